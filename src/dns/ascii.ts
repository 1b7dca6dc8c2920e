// Converts only a to z to upper case, as DNS does. String.toUpperCase also converts ſ to S and ı to I.

export function upperCaseAscii(text: string): string {
  return text.replace(/[a-z]+/g, (lower) => lower.toUpperCase());
}
