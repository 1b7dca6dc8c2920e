// Splits a long secret into groups of four, to make typing easier.

export function inGroups(secret: string): string {
  return secret.replaceAll(/.{4}(?=.)/g, '$& ');
}
