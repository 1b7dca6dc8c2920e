// Reads all of standard input.

export async function readStandardInput(): Promise<string> {
  return (await readStandardInputBytes()).toString('utf8');
}

export async function readStandardInputBytes(): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
