// Reads Protocol Buffers without a schema: varints and 32-bit fields as numbers, other fields as octets.

/** Returns the fields of a message by number. Throws if a field occurs twice. */
export function decodeFields(message: Uint8Array): Map<number, number | Buffer> {
  const input = Buffer.from(message);
  const fields = new Map<number, number | Buffer>();
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const octet = input.readUInt8(at++);
      value += (octet & 0x7f) * factor;
      if (octet < 0x80) return value;
    }
  };
  while (at < input.length) {
    const key = varint();
    const number = key >> 3;
    if (fields.has(number)) throw new Error(`field ${number} occurs twice`);
    if ((key & 7) === 0) fields.set(number, varint());
    else if ((key & 7) === 5) {
      fields.set(number, input.readUInt32LE(at));
      at += 4;
    } else if ((key & 7) === 2) {
      const length = varint();
      if (at + length > input.length) throw new Error(`field ${number} exceeds the message`);
      fields.set(number, input.subarray(at, at + length));
      at += length;
    } else throw new Error(`wire type ${key & 7}`);
  }
  return fields;
}
