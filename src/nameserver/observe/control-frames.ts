// Control frames of Frame Streams: an escape of four zero octets, the length of the frame, its type and its fields. All
// numbers have four octets, the highest first.

const TYPES = { ACCEPT: 1, START: 2, STOP: 3, READY: 4, FINISH: 5 } as const;
type ControlType = keyof typeof TYPES;

const CONTENT_TYPE = 1;
const HEAD_OCTETS = 8;
const MAX_FRAME_OCTETS = 512;
const MAX_CONTENT_OCTETS = 256;

interface ControlFrame {
  readonly type: ControlType;
  /** The content types. */
  readonly contents: readonly string[];
  /** Length in the stream. */
  readonly octets: number;
}

export function writeControlFrame(type: ControlType, content?: string): Buffer {
  const fields = content === undefined ? [] : [CONTENT_TYPE, content.length];
  const numbers = [TYPES[type], ...fields];
  const frame = Buffer.alloc(HEAD_OCTETS + 4 * numbers.length + (content?.length ?? 0));
  frame.writeUInt32BE(frame.length - HEAD_OCTETS, 4);
  for (const [i, number] of numbers.entries()) frame.writeUInt32BE(number, HEAD_OCTETS + 4 * i);
  if (content !== undefined) frame.write(content, HEAD_OCTETS + 4 * numbers.length, 'latin1');
  return frame;
}

/** Reads the control frame at the start of `input`. */
export function readControlFrame(input: Buffer): ControlFrame | 'incomplete' | 'invalid' {
  if (input.length < HEAD_OCTETS) return 'incomplete';
  const length = input.readUInt32BE(4);
  if (input.readUInt32BE(0) !== 0 || length < 4 || length > MAX_FRAME_OCTETS) return 'invalid';
  const octets = HEAD_OCTETS + length;
  if (input.length < octets) return 'incomplete';
  const code = input.readUInt32BE(HEAD_OCTETS);
  const type = Object.entries(TYPES).find(([, value]) => value === code)?.[0] as ControlType | undefined;
  const contents: string[] = [];
  let at = HEAD_OCTETS + 4;
  while (at < octets) {
    if (at + 8 > octets || input.readUInt32BE(at) !== CONTENT_TYPE) return 'invalid';
    const end = at + 8 + input.readUInt32BE(at + 4);
    if (end > octets || end - at - 8 > MAX_CONTENT_OCTETS) return 'invalid';
    contents.push(input.toString('latin1', at + 8, end));
    at = end;
  }
  return type === undefined ? 'invalid' : { type, contents, octets };
}
