// The zones of fixtures/validated, signed in each style by programs that are not ours and by our signer, and the questions
// to them.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RCODE, rcodeMnemonic } from '../../../src/dns/message/rcodes.ts';
import { type Name, parseName, printName, ROOT } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { TYPE, typeCode, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { type OurZone, signAsOurs } from '../dnssec/sign-as-ours.ts';
import { SIGNING_STYLES, type SignedText, type SigningStyle, signWith } from '../dnssec/signing-programs.ts';
import { type KeySetting, keySettings } from '../dnssec/zone-keys.ts';
import type { ZoneText } from '../peers/peers.ts';
import { recordsOf } from '../zone/zone-text.ts';
import { type Network, subjectName, TLDS } from './signed-world.ts';
import type { ExpectedVerdict, Security } from './validator.ts';

/** What marks lead to, which no file can hold: only who has the records can answer. */
export const MARKED_ROW = 'marked names';

export interface FixtureWorld {
  readonly zones: (SignedText & Partial<OurZone>)[];
  readonly children: ZoneText[];
  readonly questions: ExpectedVerdict[];
}

interface OwnStyle {
  readonly name: string;
  readonly program: 'ours';
  readonly nsec3?: { readonly optOut: false };
  readonly setting: keyof ReturnType<typeof keySettings>;
}

const OUR_STYLES: readonly OwnStyle[] = [
  { name: 'ours-nsec', program: 'ours', setting: 'one key of algorithm 13' },
  { name: 'ours-nsec3', program: 'ours', setting: 'a KSK and a ZSK', nsec3: { optOut: false } },
  { name: 'ours-15-nsec3', program: 'ours', setting: 'one key of algorithm 15', nsec3: { optOut: false } },
  { name: 'ours-two', program: 'ours', setting: 'a KSK and a ZSK of two algorithms' },
];
const MARKS = ['marked', 'x.y.marked-deep'];

const NSEC: SigningStyle = { name: 'nsec', program: 'dnssec-signzone', algorithm: 13 };

/** `tlds`: below how many TLDs each zone stands, one by one in turn or below both. */
export async function signFixtures(network: Network, tlds: 1 | 2): Promise<FixtureWorld> {
  const world: FixtureWorld = { zones: [], children: [], questions: [] };
  let turn = 0;
  const settings = keySettings();
  for (const style of [...SIGNING_STYLES, ...OUR_STYLES]) {
    for (const name of validatedZoneNames()) {
      const below = tlds === 2 ? TLDS : [TLDS[turn++ % 2] as string];
      for (const tld of below) await addZone(world, { name, style, tld, network, settings });
    }
  }
  return world;
}

interface ZoneToSign {
  readonly name: string;
  readonly style: SigningStyle | OwnStyle;
  readonly tld: string;
  readonly network: Network;
  readonly settings: Readonly<Record<string, KeySetting>>;
}

async function addZone(
  { zones, children, questions }: FixtureWorld,
  { name, style, tld, network, settings }: ZoneToSign,
): Promise<void> {
  const apex = `${name}-${style.name}.${tld}`;
  const { text } = readValidatedZone(name, apex, network);
  let ds = '';
  if (/^secure /m.test(text)) {
    const signed = await signWith(NSEC, childZone(`secure.${apex}`, network));
    ds = signed.ds;
    children.push(signed, childZone(`insecure.${apex}`, network));
  }
  const zone = { apex, text: `${text}\n${ds}` };
  if (style.program === 'ours') {
    const setting = settings[style.setting] as KeySetting;
    zones.push(signAsOurs({ denial: style.nsec3 ? 'nsec3' : 'nsec', setting, marks: MARKS }, zone));
    questions.push(...markQuestions(apex));
  } else {
    zones.push(await signWith(style, zone));
  }
  for (const { security, ...question } of readValidatedQuestions(name, apex)) {
    const proven = style.nsec3?.optOut ? 'insecure' : 'secure';
    questions.push({ ...question, security: security === 'opt-out' ? proven : security });
  }
}

function markQuestions(apex: string): ExpectedVerdict[] {
  const asked = (name: string, rcode: number) => ({
    name: parseName(`${name}.${apex}`, ROOT),
    type: TYPE.A,
    rcode: rcodeMnemonic(rcode),
    security: 'secure' as const,
    row: MARKED_ROW,
  });
  return [
    asked('marked', RCODE.NOERROR),
    asked('x.y.marked-deep', RCODE.NOERROR),
    asked('y.marked-deep', RCODE.NOERROR),
    asked('below.marked', RCODE.NXDOMAIN),
  ];
}

function childZone(apex: string, network: Network): ZoneText {
  const text = [
    '@ 300 SOA ns hostmaster 1 7200 900 1209600 60',
    '@ 300 NS ns',
    `ns 300 A ${network.children}`,
    'www 300 A 192.0.2.7',
  ];
  return { apex, text: text.join('\n') };
}

/** A zone in which one address was changed after signing, and one proof is gone: what validators must find. */
export async function brokenZone(network: Network): Promise<FixtureWorld> {
  const apex = 'broken.zz.';
  const signed = await signWith(NSEC, readValidatedZone('whole', apex, network));
  const www = parseName(`www.${apex}`, ROOT);
  const lines = recordsOf(signed.text, apex)
    .filter(({ owner, type, rdata }) => {
      const covered = type === TYPE.RRSIG ? Buffer.from(rdata).readUInt16BE() : type;
      return owner !== www || covered !== TYPE.NSEC;
    })
    .map(({ owner, ttl, type, rdata }) => {
      const text = printRdata(type, rdata);
      const isChanged = owner === www && type === TYPE.A;
      return `${printName(owner)} ${ttl} ${typeMnemonic(type)} ${isChanged ? '192.0.2.66' : text}`;
    });
  const expect = (name: string, type: number, security: Security): ExpectedVerdict => ({
    name: parseName(`${name}.${apex}`, ROOT),
    type,
    rcode: rcodeMnemonic(security === 'bogus' ? RCODE.SERVFAIL : RCODE.NOERROR),
    security,
    row: 'positive',
  });
  return {
    zones: [{ ...signed, text: lines.join('\n') }],
    children: [],
    questions: [
      expect('mail', TYPE.A, 'secure'),
      expect('www', TYPE.A, 'bogus'),
      expect('www', TYPE.TXT, 'bogus'),
      expect('alias', TYPE.A, 'bogus'),
    ],
  };
}

interface ValidatedQuestion {
  readonly name: Name;
  readonly type: number;
  readonly rcode: string;
  readonly security: 'secure' | 'insecure' | 'opt-out';
  /** The row of the table of answers that it is of. */
  readonly row: string;
}

const FOLDER = join(import.meta.dirname, '../../../fixtures/validated');

function validatedZoneNames(): string[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.zone'))
    .map((file) => file.slice(0, -'.zone'.length));
}

function readValidatedZone(zone: string, apex: string, network: Network): ZoneText {
  const tld = `${apex.split('.').at(-2)}.`;
  const text = readFileSync(join(FOLDER, `${zone}.zone`), 'utf8')
    .replaceAll(/\bSERVERNAME\b/g, subjectName(tld))
    .replaceAll(/\bSERVER\b/g, network.subject)
    .replaceAll(/\bCHILD\b/g, network.children);
  return { apex, text };
}

function readValidatedQuestions(zone: string, apex: string): ValidatedQuestion[] {
  const origin = parseName(apex, ROOT);
  let row = '';
  const questions: ValidatedQuestion[] = [];
  for (const line of readFileSync(join(FOLDER, `${zone}.questions`), 'utf8').split('\n')) {
    if (line.startsWith(';')) row = line.slice(2);
    if (line === '' || line.startsWith(';')) continue;
    const [name = '', type = '', rcode = '', security = ''] = line.split(' ');
    const code = type === 'ANY' ? 255 : typeCode(type);
    if (code === undefined || !/^(secure|insecure|opt-out)$/.test(security))
      throw new Error(`fixtures/validated/${zone}.questions: ${line}`);
    questions.push({
      name: parseName(name === '@' ? apex : name, origin),
      type: code,
      rcode,
      security: security as ValidatedQuestion['security'],
      row,
    });
  }
  return questions;
}
