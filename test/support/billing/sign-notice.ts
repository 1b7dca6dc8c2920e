// Signs as a payment gateway does, written from docs/api.md "For payment gateways".

import { createHmac } from 'node:crypto';

export function signNotice(secret: string, body: Uint8Array, at: Date): string {
  const seconds = Math.floor(at.getTime() / 1000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex')}`;
}
