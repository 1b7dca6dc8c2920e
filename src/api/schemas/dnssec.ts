// DNSSEC of a domain: its keys, what the registrar must publish, what the parent shows, and the next step.

import { z } from 'zod';
import { MOST_FOREIGN_KEYS } from '../../checks/dnssec/foreign-key.ts';
import { DNSSEC_STATUSES } from '../../checks/dnssec/told/dnssec-status.ts';
import { REGISTRAR_ACTIONS } from '../../checks/dnssec/told/registrar-action.ts';
import {
  KEY_FORMATS,
  MAX_PRIVATE_KEY_CHARACTERS,
  MOST_IMPORTED_KEYS,
} from '../../zone/signing/private-key.ts';
import { Id, Timestamp } from './fields.ts';

const DENIALS = ['nsec', 'nsec3'] as const;
/** ECDSA P-256 with SHA-256 (RFC 6605) and Ed25519 (RFC 8080): those that we sign with. */
const ALGORITHMS = [13, 15] as const;

const KEY_STATES = ['made', 'published', 'signing', 'retiring', 'withdrawn'] as const;
const KEY_DS = ['none', 'wanted', 'partial', 'seen', 'unwanted'] as const;

const algorithm = z.object({
  number: z.int().min(0).max(255),
  name: z.string().describe('The mnemonic, as `ECDSAP256SHA256`.'),
});

const Ds = z.object({
  key_tag: z.int().min(0).max(65_535),
  algorithm: z.int().min(0).max(255),
  digest_type: z.int().min(0).max(255).describe('2 is SHA-256, which every registry takes; 4 is SHA-384.'),
  digest: z.string().describe('In hexadecimal digits.'),
  text: z.string().describe('As in a zone file: `12345 13 2 9F…`.'),
  cds: z
    .boolean()
    .describe(
      'The zone asks for it with a CDS record too: a registry that reads those needs nothing from you.',
    ),
});

const Dnskey = z.object({
  flags: z.int(),
  protocol: z.int(),
  algorithm: z.int().min(0).max(255),
  public_key: z.string().describe('In base64.'),
  key_tag: z.int().min(0).max(65_535),
  text: z.string().describe('As in a zone file.'),
});

const Key = z.object({
  id: Id,
  role: z
    .enum(['csk', 'ksk', 'zsk'])
    .describe('`csk` signs everything; with `split`, `ksk` signs the keys and `zsk` the rest.'),
  key_tag: z.int().min(0).max(65_535),
  algorithm: z.int().min(0).max(255),
  origin: z.enum(['ours', 'foreign']).describe('`foreign`: of another operator, whose signatures count too.'),
  state: z.enum(KEY_STATES),
  ds: z
    .enum(KEY_DS)
    .describe(
      'Its DS record at the parent. `partial`: some addresses show it. `unwanted`: shown, and to be removed.',
    ),
  made_at: Timestamp,
  next: z
    .object({
      step: z.string(),
      at: Timestamp.optional(),
      waits_for: z.string().optional().describe('In words for people.'),
    })
    .optional(),
});

const Registrar = z
  .object({
    action: z.enum(REGISTRAR_ACTIONS),
    from: Timestamp.optional().describe('Not before this time. Until then `add` and `ds` are empty.'),
    add: z.array(Ds),
    remove: z.array(z.string()).describe('DS records as the parent shows them.'),
    message: z.string(),
  })
  .describe('What to enter at the registrar now.');

const Finding = z.object({
  code: z.string(),
  severity: z.enum(['info', 'warning', 'error']),
  message: z.string(),
});

export const Dnssec = z
  .object({
    status: z
      .enum(DNSSEC_STATUSES)
      .describe(
        '`off`; `signing`: being signed; `waiting`: signed, too early for a DS; `ds_wanted`: enter the DS; `secure`; `rolling`: to another key; `ds_removal`: remove the DS; `unsigning`; `broken`: the parent shows only DS records that match no key; `verbatim`: loaded with its signatures.',
      ),
    goal: z.enum(['signed', 'unsigned']),
    denial: z
      .enum(DENIALS)
      .describe('With `nsec` anybody can list the names of the zone; `nsec3` makes that costly.'),
    next_denial: z
      .enum(DENIALS)
      .optional()
      .describe('What `denial` becomes as soon as all of it is written; answers use `denial` until then.'),
    algorithm,
    ds: z.array(Ds),
    dnskey: z.array(Dnskey),
    keys: z.array(Key),
    at_parent: z
      .object({
        checked_at: Timestamp,
        addresses: z.int().min(0).describe('Addresses of the parent that answered …'),
        agreeing: z.int().min(0).describe('… and how many of them show the same.'),
        ttl: z.int().min(0).optional(),
        ds: z.array(z.object({ text: z.string(), ours: z.boolean(), key_id: Id.optional() })),
      })
      .optional(),
    registrar: Registrar,
    signatures: z
      .object({ made_until: Timestamp, next_refresh: Timestamp })
      .optional()
      .describe('When the first signature ends, and when it is made anew at the latest.'),
    leaving: z
      .object({ message: z.string(), wait_seconds: z.int().min(0) })
      .optional()
      .describe('How to move the domain elsewhere without an outage, while the parent shows a DS.'),
    foreign_keys: z
      .array(Dnskey)
      .describe('Of another operator that signs the domain too; also those that still have to leave.'),
    foreign_import: z
      .object({
        state: z.enum(['asked', 'done', 'failed']),
        at: Timestamp,
        message: z.string().optional().describe('Why it has brought nothing.'),
      })
      .optional()
      .describe('The last import of their keys.'),
    findings: z.array(Finding),
  })
  .meta({ id: 'Dnssec' });

export const EnableDnssec = z.strictObject({
  denial: z.enum(DENIALS).optional(),
  algorithm: z.literal(ALGORITHMS).optional(),
  split: z.boolean().optional().describe('A key for the keys and one for the rest, instead of one for all.'),
});

export const ChangeDnssec = z.strictObject({ denial: z.enum(DENIALS) });

export const RollDnssec = z.strictObject({
  key_id: Id.optional().describe('Of the key that is replaced alone; absent: of all that sign.'),
  reason: z.enum(['planned', 'compromised']).default('planned'),
  algorithm: z
    .literal(ALGORITHMS)
    .optional()
    .describe('Of the new key; that of the old one where it is left out.'),
  split: z.boolean().optional().describe('As in `enable`; as it is where it is left out.'),
});

/** More than an RSA key of 4096 bits takes. */
const MAX_KEY_CHARACTERS = 1024;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export const ForeignKeyList = z.strictObject({
  keys: z
    .array(
      z.strictObject({
        flags: z.int().min(0).max(65_535).describe('257 for a key with a DS, 256 for one that signs data.'),
        protocol: z.literal(3),
        algorithm: z.int().min(0).max(255).describe('That of this domain.'),
        public_key: z
          .string()
          .min(1)
          .max(MAX_KEY_CHARACTERS)
          .regex(BASE64, 'it is not base64')
          .describe('In base64, as in the last field of their DNSKEY record.'),
      }),
    )
    .max(MOST_FOREIGN_KEYS)
    .describe('The whole list; an empty one takes all of them away, as soon as nobody needs them.'),
});

export const ImportPrivateKeys = z.strictObject({
  keys: z
    .array(
      z.strictObject({
        private_key: z
          .string()
          .min(1)
          .max(MAX_PRIVATE_KEY_CHARACTERS)
          .describe(
            'A file `K*.private` of BIND, `privatekey` of PowerDNS, or PEM (PKCS#8 as Knot stores it, or SEC1).',
          ),
        flags: z
          .literal([256, 257])
          .optional()
          .describe(
            '257 for a key with a DS, 256 for a key that signs only data. Default: the flags of `dnskey`.',
          ),
        dnskey: z
          .string()
          .max(MAX_KEY_CHARACTERS)
          .optional()
          .describe(
            'The DNSKEY record as in a zone file, `257 3 13 mdsswUyr…`. The private key must belong to it.',
          ),
      }),
    )
    .min(1)
    .max(MOST_IMPORTED_KEYS)
    .describe('One key with flags 257, and optionally one with flags 256, which then signs the data.'),
  denial: z.enum(DENIALS).optional(),
  replace: z
    .boolean()
    .optional()
    .describe(
      'Allows the keys to replace others that were imported or exported. Never allowed for a key whose DS is at the parent.',
    ),
});

export const ExportPrivateKeys = z.strictObject({
  key_id: Id.optional().describe('The key to export. Default: the keys that sign.'),
  format: z
    .enum(KEY_FORMATS)
    .default('bind')
    .describe('`bind`: as BIND and PowerDNS read it; `pem`: PKCS#8, for `keymgr import-pem` of Knot.'),
});

export const PrivateKeys = z
  .object({
    keys: z.array(
      z.object({
        id: Id,
        role: z.enum(['csk', 'ksk', 'zsk']),
        key_tag: z.int().min(0).max(65_535),
        algorithm: z.int().min(0).max(255),
        flags: z.int(),
        dnskey: z.string().describe('As in a zone file.'),
        private_key: z.string(),
      }),
    ),
  })
  .meta({ id: 'PrivateKeys' });
