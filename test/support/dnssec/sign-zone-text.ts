// Signs a zone file for servers that serve it unchanged.

import { parseName } from '../../../src/dns/name.ts';
import type { ZoneText } from '../peers/peers.ts';
import { recordsOf } from '../zone/zone-text.ts';
import type { DenialStyle } from './denial-chain.ts';
import { printRecords } from './sign-as-ours.ts';
import { signRecords } from './sign-records.ts';
import type { SigningKey, SigningTime } from './signing.ts';

export function signZoneText(
  { apex, text }: ZoneText,
  key: SigningKey,
  time: SigningTime,
  denial: DenialStyle = { kind: 'nsec' },
): ZoneText {
  const records = signRecords(parseName(apex), recordsOf(text, apex), { key, time, denial });
  return { apex, text: printRecords(records) };
}
