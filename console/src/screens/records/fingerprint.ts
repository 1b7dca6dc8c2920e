// A fingerprint that detects whether a body was sent before (FNV-1a, twice 32 bits). It is not a security measure.

export function fingerprint(text: string): string {
  let one = 0x811c9dc5;
  let other = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x85ebca6b);
  }
  return `${text.length}-${(one >>> 0).toString(16)}-${(other >>> 0).toString(16)}`;
}
