// A password as Postgres stores it (RFC 5802 §3, RFC 7677), so that the server, its log and its statistics never see the
// password itself.

import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

const ITERATIONS = 4096; // Postgres's own

/** Takes passwords of ASCII letters, digits and signs: those need no SASLprep. */
export function scramVerifier(password: string, salt: Uint8Array = randomBytes(16)): string {
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  const serverKey = keyed('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${Buffer.from(salt).toString('base64')}$${storedKey}:${serverKey}`;
}
