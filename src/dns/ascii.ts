// Upper case as DNS means it: a to z only. String.toUpperCase also makes S of ſ and I of ı.

export function upperCaseAscii(text: string): string {
  return text.replace(/[a-z]+/g, (lower) => lower.toUpperCase());
}
