// Assembles eBPF programs (RFC 9669) that only jump forward.

export const SIZE = { BYTE: 0x10, HALF: 0x08, WORD: 0x00 } as const;
type Size = (typeof SIZE)[keyof typeof SIZE];

export const INSTRUCTION_BYTES = 8;
const MAX_JUMP = 0x7fff;
const MAP_BY_DESCRIPTOR = 1;

// Operations, each with its class.
const LOAD = 0x61;
const LOAD_IMMEDIATE_64 = 0x18;
const ADD_IMMEDIATE = 0x07;
const AND_IMMEDIATE = 0x57;
const MOVE = 0xbf;
const MOVE_IMMEDIATE = 0xb7;
const JUMP_IF_GREATER = 0x2d;
const JUMP_IF_EQUAL_32 = 0x16;
const JUMP_IF_NOT_EQUAL_32 = 0x56;
const CALL = 0x85;
const EXIT = 0x95;

/** Registers are numbers from 0 to 10. Immediate values have 32 bits. */
export class BpfAssembler {
  readonly #code: number[] = [];
  readonly #labels = new Map<string, number>();
  readonly #jumps: { readonly at: number; readonly label: string }[] = [];

  load(size: Size, to: number, from: number, offset: number): void {
    this.#emit(LOAD | size, to, from, offset, 0);
  }

  /** Loads the address of the map with this descriptor. */
  loadMap(to: number, descriptor: number): void {
    this.#emit(LOAD_IMMEDIATE_64, to, MAP_BY_DESCRIPTOR, 0, descriptor);
    this.#emit(0, 0, 0, 0, 0);
  }

  move(to: number, from: number): void {
    this.#emit(MOVE, to, from, 0, 0);
  }

  set(to: number, value: number): void {
    this.#emit(MOVE_IMMEDIATE, to, 0, 0, value);
  }

  add(to: number, value: number): void {
    this.#emit(ADD_IMMEDIATE, to, 0, 0, value);
  }

  and(to: number, value: number): void {
    this.#emit(AND_IMMEDIATE, to, 0, 0, value);
  }

  jumpIfGreater(left: number, right: number, label: string): void {
    this.#jump(label);
    this.#emit(JUMP_IF_GREATER, left, right, 0, 0);
  }

  /** Compares the lower 32 bits. */
  jumpIfEqual(register: number, value: number, label: string): void {
    this.#jump(label);
    this.#emit(JUMP_IF_EQUAL_32, register, 0, 0, value);
  }

  /** Compares the lower 32 bits. */
  jumpUnlessEqual(register: number, value: number, label: string): void {
    this.#jump(label);
    this.#emit(JUMP_IF_NOT_EQUAL_32, register, 0, 0, value);
  }

  call(helper: number): void {
    this.#emit(CALL, 0, 0, 0, helper);
  }

  exit(): void {
    this.#emit(EXIT, 0, 0, 0, 0);
  }

  label(name: string): void {
    this.#labels.set(name, this.#code.length / INSTRUCTION_BYTES);
  }

  /** Returns the instructions. Throws if a label is missing, or if a jump is too long or goes backward. */
  assemble(): Uint8Array {
    const code = Uint8Array.from(this.#code);
    const view = new DataView(code.buffer);
    for (const { at, label } of this.#jumps) {
      const distance = (this.#labels.get(label) ?? -1) - at - 1;
      if (distance < 0 || distance > MAX_JUMP) throw new RangeError(`the jump to "${label}" is not possible`);
      view.setInt16(at * INSTRUCTION_BYTES + 2, distance, true);
    }
    return code;
  }

  #jump(label: string): void {
    this.#jumps.push({ at: this.#code.length / INSTRUCTION_BYTES, label });
  }

  #emit(operation: number, to: number, from: number, offset: number, value: number): void {
    const bytes = new Uint8Array(INSTRUCTION_BYTES);
    const view = new DataView(bytes.buffer);
    bytes[0] = operation;
    bytes[1] = (from << 4) | to;
    view.setInt16(2, offset, true);
    view.setInt32(4, value | 0, true);
    this.#code.push(...bytes);
  }
}
