// Email addresses: as they are stored, and as they are compared.

const MAX_EMAIL_CHARACTERS = 254; // RFC 5321 §4.5.3.1.3
const MAX_LOCAL_CHARACTERS = 64; // RFC 5321 §4.5.3.1.1
/** Without what has a meaning in the header of a mail. */
const ADDRESS = /^[^\s@<>()[\],;:\\"\p{C}]+@[^\s@<>()[\],;:\\"\p{C}]+$/u;

/** In NFC; undefined: this is not an email address. */
export function readEmail(text: string): string | undefined {
  const email = text.trim().normalize('NFC');
  const isFit = email.length <= MAX_EMAIL_CHARACTERS && email.indexOf('@') <= MAX_LOCAL_CHARACTERS;
  return isFit && ADDRESS.test(email) ? email : undefined;
}

/** Two emails with the same key are one account's. */
export function emailKeyOf(email: string): string {
  return email.normalize('NFC').toLowerCase();
}
