// DNSSEC of a domain: its keys, the DS records for the registrar, the DS records at the parent, and the next step.

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
/** The algorithms that Zonefleet signs with: ECDSA P-256 with SHA-256 (RFC 6605) and Ed25519 (RFC 8080). */
const ALGORITHMS = [13, 15] as const;

const KEY_STATES = ['made', 'published', 'signing', 'retiring', 'withdrawn'] as const;
const KEY_DS = ['none', 'wanted', 'partial', 'seen', 'unwanted'] as const;

const algorithm = z.object({
  number: z.int().min(0).max(255),
  name: z.string().describe('The mnemonic, such as `ECDSAP256SHA256`.'),
});

const Ds = z.object({
  key_tag: z.int().min(0).max(65_535),
  algorithm: z.int().min(0).max(255),
  digest_type: z.int().min(0).max(255).describe('2 is SHA-256, which every registry accepts. 4 is SHA-384.'),
  digest: z.string().describe('In hexadecimal digits.'),
  text: z.string().describe('In zone file format, such as `12345 13 2 9F…`.'),
  cds: z
    .boolean()
    .describe(
      'True if the zone also publishes it as a CDS record. A registry that reads CDS records needs no action from you.',
    ),
});

const Dnskey = z.object({
  flags: z.int(),
  protocol: z.int(),
  algorithm: z.int().min(0).max(255),
  public_key: z.string().describe('In base64.'),
  key_tag: z.int().min(0).max(65_535),
  text: z.string().describe('In zone file format.'),
});

const Key = z.object({
  id: Id,
  role: z
    .enum(['csk', 'ksk', 'zsk'])
    .describe('`csk` signs everything. With `split`, `ksk` signs the keys and `zsk` the other records.'),
  key_tag: z.int().min(0).max(65_535),
  algorithm: z.int().min(0).max(255),
  origin: z
    .enum(['ours', 'foreign'])
    .describe('`foreign`: a key of another operator that also signs the domain.'),
  state: z.enum(KEY_STATES),
  ds: z
    .enum(KEY_DS)
    .describe(
      'State of its DS record at the parent. `partial`: only some addresses of the parent show it. `unwanted`: the parent shows it, and it must be removed.',
    ),
  made_at: Timestamp,
  next: z
    .object({
      step: z.string(),
      at: Timestamp.optional(),
      waits_for: z.string().optional().describe('Text for people.'),
    })
    .optional(),
});

const Registrar = z
  .object({
    action: z.enum(REGISTRAR_ACTIONS),
    from: Timestamp.optional().describe('Do nothing before this time. Until then `add` and `ds` are empty.'),
    add: z.array(Ds),
    remove: z.array(z.string()).describe('DS records to remove, as the parent shows them.'),
    message: z.string(),
  })
  .describe('The records to enter at the registrar now.');

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
        '`off`: not signed. `signing`: being signed. `waiting`: signed, but too early for a DS. `ds_wanted`: enter the DS at the registrar. `secure`: signed, with a DS at the parent. `rolling`: changing to another key. `ds_removal`: remove the DS. `unsigning`: the signatures are being removed. `broken`: the parent shows only DS records that match no key. `verbatim`: loaded with its signatures.',
      ),
    goal: z.enum(['signed', 'unsigned']),
    denial: z
      .enum(DENIALS)
      .describe('With `nsec`, anyone can list the names of the zone. `nsec3` makes that costly.'),
    next_denial: z
      .enum(DENIALS)
      .optional()
      .describe(
        'The value of `denial` after the next records are all written. Until then, responses use `denial`.',
      ),
    algorithm,
    ds: z.array(Ds),
    dnskey: z.array(Dnskey),
    keys: z.array(Key),
    at_parent: z
      .object({
        checked_at: Timestamp,
        addresses: z.int().min(0).describe('Addresses of the parent that answered.'),
        agreeing: z.int().min(0).describe('Addresses among them that show the same DS records.'),
        ttl: z.int().min(0).optional(),
        ds: z.array(z.object({ text: z.string(), ours: z.boolean(), key_id: Id.optional() })),
      })
      .optional(),
    registrar: Registrar,
    signatures: z
      .object({ made_until: Timestamp, next_refresh: Timestamp })
      .optional()
      .describe('The times at which the first signature expires and at which it is replaced at the latest.'),
    leaving: z
      .object({ message: z.string(), wait_seconds: z.int().min(0) })
      .optional()
      .describe(
        'Instructions for moving the domain to another operator without an outage. Present while the parent shows a DS.',
      ),
    foreign_keys: z
      .array(Dnskey)
      .describe('Keys of another operator that also signs the domain, including those still to be removed.'),
    foreign_import: z
      .object({
        state: z.enum(['asked', 'done', 'failed']),
        at: Timestamp,
        message: z.string().optional().describe('Why no keys were imported.'),
      })
      .optional()
      .describe("The last import of the other operator's keys."),
    findings: z.array(Finding),
  })
  .meta({ id: 'Dnssec' });

export const EnableDnssec = z.strictObject({
  denial: z.enum(DENIALS).optional(),
  algorithm: z.literal(ALGORITHMS).optional(),
  split: z
    .boolean()
    .optional()
    .describe(
      'Uses one key for the DNSKEY records and another for the other records, instead of one for all.',
    ),
});

export const ChangeDnssec = z.strictObject({ denial: z.enum(DENIALS) });

export const RollDnssec = z.strictObject({
  key_id: Id.optional().describe('The only key to replace. Default: all keys that sign.'),
  reason: z.enum(['planned', 'compromised']).default('planned'),
  algorithm: z
    .literal(ALGORITHMS)
    .optional()
    .describe('Algorithm of the new key. Default: the algorithm of the old key.'),
  split: z.boolean().optional().describe('As in `enableDnssec`. Default: unchanged.'),
});

/** Longer than an RSA key of 4096 bits. */
const MAX_KEY_CHARACTERS = 1024;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export const ForeignKeyList = z.strictObject({
  keys: z
    .array(
      z.strictObject({
        flags: z
          .int()
          .min(0)
          .max(65_535)
          .describe('257 for a key with a DS, 256 for a key that signs only data.'),
        protocol: z.literal(3),
        algorithm: z.int().min(0).max(255).describe('The algorithm of this domain.'),
        public_key: z
          .string()
          .min(1)
          .max(MAX_KEY_CHARACTERS)
          .regex(BASE64, 'is not base64')
          .describe("In base64, as in the last field of the other operator's DNSKEY record."),
      }),
    )
    .max(MOST_FOREIGN_KEYS)
    .describe(
      'The complete list. An empty list removes all foreign keys as soon as they are no longer needed.',
    ),
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
            'A `K*.private` file of BIND, the `privatekey` of PowerDNS, or PEM (PKCS#8 as stored by Knot, or SEC1).',
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
            'The DNSKEY record in zone file format, such as `257 3 13 mdsswUyr…`. The private key must belong to it.',
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
      'If true, the keys may replace others that were imported or exported. A key whose DS is at the parent is never replaced.',
    ),
});

export const ExportPrivateKeys = z.strictObject({
  key_id: Id.optional().describe('The key to export. Default: the keys that sign.'),
  format: z
    .enum(KEY_FORMATS)
    .default('bind')
    .describe('`bind`: the format of BIND and PowerDNS. `pem`: PKCS#8, for `keymgr import-pem` of Knot.'),
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
        dnskey: z.string().describe('In zone file format.'),
        private_key: z.string(),
      }),
    ),
  })
  .meta({ id: 'PrivateKeys' });
