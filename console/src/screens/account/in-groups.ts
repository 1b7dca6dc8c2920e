// A long secret in groups of four, as people type it off a screen.

export function inGroups(secret: string): string {
  return secret.replaceAll(/.{4}(?=.)/g, '$& ');
}
