// What LLVM's machine code layer knows of instructions: an oracle for kernelinfo/pressure/rules.py.
//
//   mc access CPU FILE              for each instruction of an assembly text: line, registers defined, used
//   mc fuzz CPU SEED COUNT TRIES    of so many random encodings up to COUNT of each mnemonic
//   mc flags CPU SEED COUNT TRIES   the same, each with LLVM's opcode, TSFlags and flags of MCInstrDesc
//   mc opcodes CPU                  opcode, flags and mnemonic of all that LLVM has for any processor
//
// Build (packages libllvm22 and llvm-22-dev):
//   g++ -std=c++17 -fno-rtti -O1 -I INCLUDE/llvm-22 -I INCLUDE/llvm-c-22 mc.cpp libLLVM.so.22.1

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include <csetjmp>
#include <csignal>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>

using namespace llvm;

namespace {

using Names = std::set<std::string>;

// The 16-bit halves of a register, by LLVM's names: VGPR4_LO16, SGPR2_HI16.
void addHalves(const MCRegisterInfo &Registers, MCRegister Register, Names &Found) {
  if (!Register)
    return;
  for (MCPhysReg Part : Registers.subregs_inclusive(Register)) {
    StringRef Name = Registers.getName(Part);
    if (Name.ends_with("_LO16") || Name.ends_with("_HI16"))
      Found.insert(Name.str());
  }
}

void print(const Names &Found) {
  for (const std::string &Name : Found)
    outs() << ' ' << Name;
}

class Streamer : public MCStreamer {
public:
  Streamer(MCContext &Context, const MCInstrInfo &Instructions, SourceMgr &Sources)
      : MCStreamer(Context), Instructions(Instructions), Sources(Sources) {}

  bool emitSymbolAttribute(MCSymbol *, MCSymbolAttr) override { return true; }
  void emitCommonSymbol(MCSymbol *, uint64_t, Align) override {}
  void emitZerofill(MCSection *, MCSymbol *, uint64_t, Align, SMLoc) override {}

  void emitInstruction(const MCInst &Inst, const MCSubtargetInfo &) override {
    if (Sources.FindBufferContainingLoc(Inst.getLoc()) != Sources.getMainFileID())
      return; // a macro's: no line of the file
    const MCRegisterInfo &Registers = *getContext().getRegisterInfo();
    const MCInstrDesc &Description = Instructions.get(Inst.getOpcode());
    Names Defined, Used;
    for (unsigned I = 0; I < Inst.getNumOperands(); ++I) {
      const MCOperand &Operand = Inst.getOperand(I);
      if (Operand.isReg())
        addHalves(Registers, Operand.getReg(), I < Description.getNumDefs() ? Defined : Used);
    }
    for (unsigned I = Description.getNumDefs(); I < Description.getNumOperands(); ++I) {
      int Tied = Description.getOperandConstraint(I, MCOI::TIED_TO);
      if (Tied >= 0 && Inst.getOperand(Tied).isReg())
        addHalves(Registers, Inst.getOperand(Tied).getReg(), Used);
    }
    for (MCPhysReg Register : Description.implicit_defs())
      addHalves(Registers, Register, Defined);
    for (MCPhysReg Register : Description.implicit_uses())
      addHalves(Registers, Register, Used);
    outs() << Sources.FindLineNumber(Inst.getLoc()) << '\t';
    print(Defined);
    outs() << '\t';
    print(Used);
    outs() << '\n';
  }

private:
  const MCInstrInfo &Instructions;
  SourceMgr &Sources;
};

struct Machine {
  std::unique_ptr<MCRegisterInfo> Registers;
  std::unique_ptr<MCAsmInfo> AsmInfo;
  std::unique_ptr<MCInstrInfo> Instructions;
  std::unique_ptr<MCSubtargetInfo> Subtarget;
};

int access(const Target &Target, const Triple &TheTriple, const Machine &Of, const char *Path) {
  SourceMgr Sources;
  auto Buffer = MemoryBuffer::getFile(Path);
  if (!Buffer)
    return 2;
  Sources.AddNewSourceBuffer(std::move(*Buffer), SMLoc());
  Sources.setDiagHandler([](const SMDiagnostic &, void *) {});
  MCContext Context(TheTriple, Of.AsmInfo.get(), Of.Registers.get(), Of.Subtarget.get(), &Sources);
  std::unique_ptr<MCObjectFileInfo> Sections(Target.createMCObjectFileInfo(Context, false));
  Context.setObjectFileInfo(Sections.get());
  Streamer Out(Context, *Of.Instructions, Sources);
  Target.createNullTargetStreamer(Out);
  std::unique_ptr<MCAsmParser> Parser(createMCAsmParser(Sources, Context, Out, *Of.AsmInfo));
  MCTargetOptions Options;
  std::unique_ptr<MCTargetAsmParser> ForTarget(
      Target.createMCAsmParser(*Of.Subtarget, *Parser, *Of.Instructions, Options));
  Parser->setTargetParser(*ForTarget);
  Parser->Run(/*NoInitialTextSection=*/false, /*NoFinalize=*/true);
  return 0;
}

sigjmp_buf Crashed;
void crashed(int) { siglongjmp(Crashed, 1); }

// Four words. Sources are biased to VGPRs and all registers to small even numbers, which tuples need.
void randomWords(std::mt19937_64 &Random, uint8_t (&Bytes)[16]) {
  for (unsigned I = 0; I < 4; ++I) {
    uint32_t Word = Random();
    if (Random() % 2)
      Word &= 0xfefefefe & (Random() | 0xff3f3f3f);
    if (Random() % 4 == 0)
      Word &= Random();
    if (I == 1 && Random() % 2) {
      for (unsigned Shift : {0, 9, 18})
        Word = (Word & ~(0x1ffu << Shift)) | ((0x100u | (Random() & 0x7e)) << Shift);
      if (Random() % 2)
        Word &= 0x07ffffff;
    }
    if (I > 1 && Random() % 2)
      Word = Random() % 2 ? 0 : Word & 0x7e7e7e7e;
    for (unsigned Byte = 0; Byte < 4; ++Byte)
      Bytes[4 * I + Byte] = Word >> (8 * Byte);
  }
  Bytes[3] = (Bytes[3] & 3) | (Random() % 64) << 2; // the encoding, each as often
}

// LLVM's name of the opcode, its TSFlags, and what MCInstrDesc says of memory and control flow.
void printFlags(const MCInstrInfo &Instructions, unsigned Opcode) {
  const MCInstrDesc &Of = Instructions.get(Opcode);
  outs() << Instructions.getName(Opcode) << '\t' << Of.TSFlags << '\t';
  outs() << (Of.mayLoad() ? "L" : "") << (Of.mayStore() ? "S" : "") << (Of.isBranch() ? "B" : "")
         << (Of.isCall() ? "C" : "") << (Of.isReturn() ? "R" : "") << (Of.isTerminator() ? "T" : "");
}

int opcodes(const Target &Target, const Triple &TheTriple, const Machine &Of) {
  std::unique_ptr<MCInstPrinter> Printer(Target.createMCInstPrinter(
      TheTriple, Of.AsmInfo->getAssemblerDialect(), *Of.AsmInfo, *Of.Instructions, *Of.Registers));
  for (unsigned Opcode = 0; Opcode < Of.Instructions->getNumOpcodes(); ++Opcode) {
    MCInst Inst;
    Inst.setOpcode(Opcode);
    const char *Mnemonic = Printer->getMnemonic(Inst).first;
    if (!Mnemonic || Of.Instructions->get(Opcode).isPseudo())
      continue;
    printFlags(*Of.Instructions, Opcode);
    outs() << '\t' << StringRef(Mnemonic).trim() << '\n';
  }
  return 0;
}

int fuzz(const Target &Target, const Triple &TheTriple, const Machine &Of, uint64_t Seed,
         unsigned Count, unsigned Tries, bool WithFlags) {
  MCContext Context(TheTriple, Of.AsmInfo.get(), Of.Registers.get(), Of.Subtarget.get());
  std::unique_ptr<MCDisassembler> Disassembler(
      Target.createMCDisassembler(*Of.Subtarget, Context));
  std::unique_ptr<MCInstPrinter> Printer(Target.createMCInstPrinter(
      TheTriple, Of.AsmInfo->getAssemblerDialect(), *Of.AsmInfo, *Of.Instructions, *Of.Registers));
  Printer->setPrintImmHex(true);
  std::mt19937_64 Random(Seed);
  std::map<std::string, unsigned> Found;
  Names Texts;
  signal(SIGSEGV, crashed);
  signal(SIGABRT, crashed);
  for (unsigned Try = 0; Try < Tries; ++Try) {
    uint8_t Bytes[16];
    randomWords(Random, Bytes);
    if (sigsetjmp(Crashed, 1))
      continue;
    MCInst Inst;
    uint64_t Size;
    if (Disassembler->getInstruction(Inst, Size, Bytes, 0, nulls()) != MCDisassembler::Success)
      continue;
    std::string Text;
    raw_string_ostream Stream(Text);
    Printer->printInst(&Inst, 0, "", *Of.Subtarget, Stream);
    StringRef Trimmed = StringRef(Text).trim();
    if (Trimmed.contains('\n') || Trimmed.contains("/*Invalid"))
      continue;
    unsigned &Known = Found[Trimmed.split(' ').first.str()];
    if (Known < Count && Texts.insert(Trimmed.str()).second) {
      ++Known;
      if (WithFlags)
        printFlags(*Of.Instructions, Inst.getOpcode());
      outs() << '\t' << Trimmed << '\n';
    }
  }
  return 0;
}

} // namespace

int main(int Arguments, char **Argument) {
  if (Arguments < 3)
    return 2;
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmParser();
  LLVMInitializeAMDGPUDisassembler();
  Triple TheTriple("amdgcn-amd-amdhsa");
  std::string Error;
  const Target *Target = TargetRegistry::lookupTarget(TheTriple, Error);
  Machine Of;
  MCTargetOptions Options;
  Of.Registers.reset(Target->createMCRegInfo(TheTriple));
  Of.AsmInfo.reset(Target->createMCAsmInfo(*Of.Registers, TheTriple, Options));
  Of.Instructions.reset(Target->createMCInstrInfo());
  Of.Subtarget.reset(Target->createMCSubtargetInfo(TheTriple, Argument[2], ""));
  if (StringRef(Argument[1]) == "opcodes")
    return opcodes(*Target, TheTriple, Of);
  if (Arguments < 4)
    return 2;
  if (StringRef(Argument[1]) == "access")
    return access(*Target, TheTriple, Of, Argument[3]);
  if (Arguments < 6)
    return 2;
  return fuzz(*Target, TheTriple, Of, std::stoull(Argument[3]), std::stoul(Argument[4]),
              std::stoul(Argument[5]), StringRef(Argument[1]) == "flags");
}
