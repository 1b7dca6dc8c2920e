// Signs a zone file for servers that answer from it as it is.

import { parseName, printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { typeMnemonic } from '../../../src/dns/type-codes.ts';
import type { ZoneText } from '../peers/peers.ts';
import { recordsOf } from '../zone/zone-text.ts';
import type { DenialStyle } from './denial-chain.ts';
import { signRecords } from './sign-records.ts';
import type { SigningKey, SigningTime } from './signing.ts';

export function signZoneText(
  { apex, text }: ZoneText,
  key: SigningKey,
  time: SigningTime,
  denial: DenialStyle = { kind: 'nsec' },
): ZoneText {
  const records = signRecords(parseName(apex), recordsOf(text, apex), { key, time, denial });
  const lines = records.map(
    ({ owner, type, ttl, rdata }) =>
      `${printName(owner)} ${ttl} ${typeMnemonic(type)} ${printRdata(type, rdata)}`,
  );
  return { apex, text: lines.join('\n') };
}
