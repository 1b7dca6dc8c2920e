// Signs like a payment gateway, implemented from docs/api.md "For payment gateways".

import { createHmac } from 'node:crypto';

export function signNotice(secret: string, gateway: string, body: Uint8Array, at: Date): string {
  const seconds = Math.floor(at.getTime() / 1000);
  const mac = createHmac('sha256', secret).update(`notice.${gateway}.${seconds}.`).update(body);
  return `t=${seconds},v1=${mac.digest('hex')}`;
}
