// DNS records in responses and in the bodies that create or change them, and warnings about them. The rules about
// types and about other records are in src/zone.

import { z } from 'zod';
import { DEFAULT_SETTINGS, ORIGIN_SCHEMES } from '../../../zone/records/customer-record.ts';
import {
  API_TYPES,
  type ApiType,
  GENERIC_TYPE,
  MAX_COMMENT_CHARACTERS,
  MAX_MX_PRIORITY,
  MAX_PORT,
  MAX_TIMEOUT_SECONDS,
  MAX_TTL_SECONDS,
  MIN_TTL_SECONDS,
  readApiType,
} from '../../../zone/records/customer-types.ts';
import { isLongerThan } from '../../../zone/records/judge-record.ts';
import { WARNING_CODES } from '../../../zone/warnings/zone-warning.ts';
import { Id, Timestamp } from '../fields.ts';

/** The JSON schema of a record type. It has no `type`, so that generated clients treat each alternative as a type. */
export const RECORD_TYPE_META = {
  type: undefined,
  anyOf: [
    { type: 'string', enum: [...API_TYPES] },
    {
      type: 'string',
      pattern: GENERIC_TYPE.source,
      description: 'A type without a mnemonic, whose destination is `\\# length hex` (RFC 3597 §5).',
    },
  ],
} as const;

export const RecordType = z.string().meta({ ...RECORD_TYPE_META });

const RecordTypeText = z
  .string()
  .transform((text, context): ApiType => {
    const read = readApiType(text);
    if (read.kind === 'type') return read.type;
    context.addIssue(read.message);
    return z.NEVER;
  })
  .meta({ ...RECORD_TYPE_META, description: 'Case-insensitive.' });

const Warning = z
  .object({
    line: z.int().min(1).optional().describe('Line in the zone file. Counts from 1.'),
    name: z.string().describe('Owner name of the record, relative to the domain; `@` is the domain itself.'),
    type: z.string(),
    code: z.enum(WARNING_CODES),
    message: z.string(),
  })
  .meta({ id: 'Warning' });

export const Warnings = z
  .array(Warning)
  .describe(
    'Records that are allowed but probably wrong. The warnings of a parsed zone file also list records that an import would omit. A warning never prevents a write.',
  );

const Name = z.string().min(1).max(1024);
const comment = z
  .string()
  .refine(
    (text) => !isLongerThan(text, MAX_COMMENT_CHARACTERS),
    `expected at most ${MAX_COMMENT_CHARACTERS} characters`,
  )
  .meta({ maxLength: MAX_COMMENT_CHARACTERS, description: 'A note for people. Empty: no note.' });

/** The members of a record in a set, without name and type. */
const content = {
  destination: z
    .string()
    .min(1)
    .describe(
      'Addresses and host names as they are, the plain text of a TXT record, and everything else in zone file format. For a proxied record: the origin.',
    ),
  mx_priority: z.int().min(0).max(MAX_MX_PRIORITY).describe('Only for MX, where it is required.').optional(),
  ttl: z
    .int()
    .min(MIN_TTL_SECONDS)
    .max(MAX_TTL_SECONDS)
    .describe('Seconds, for all records of this name and type. Default: their current TTL, or 300.')
    .optional(),
  proxied: z
    .boolean()
    .describe('True if the edge answers for it. Only for A, AAAA, CNAME and ANAME.')
    .optional(),
  captcha: z.boolean().describe('True if visitors must pass a challenge.').optional(),
  scheme: z.enum(ORIGIN_SCHEMES).describe('Protocol between the edge and the origin.').optional(),
  port: z.int().min(1).max(MAX_PORT).describe('Port of the origin. Default: 443.').optional(),
  host_header: z
    .string()
    .max(255)
    .describe(
      "Host header and SNI that the edge sends to the origin. Empty: the host of the visitor's request.",
    )
    .optional(),
  monitor: z.boolean().describe('True if the record is part of uptime monitoring.').optional(),
  dest_country: z
    .string()
    .regex(/^([A-Z]{2})?$/, 'expected two capital letters (ISO 3166)')
    .describe('Country of the origin. Empty: determined by the service.')
    .optional(),
  timeout: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_SECONDS)
    .describe('Seconds to wait for the origin. Default: 15.')
    .optional(),
  comment: comment.optional(),
};

const nameAndType = {
  name: Name.describe('Relative to the domain, `@` for the domain itself, or the full name.'),
  type: RecordTypeText,
};

export const RecordContent = z.strictObject(content).meta({ id: 'RecordContent' });

/** Defaults of a new record. */
const defaults = {
  proxied: content.proxied.meta({ default: DEFAULT_SETTINGS.proxied }),
  captcha: content.captcha.meta({ default: DEFAULT_SETTINGS.captcha }),
  scheme: content.scheme.meta({ default: DEFAULT_SETTINGS.scheme }),
  port: content.port.meta({ default: DEFAULT_SETTINGS.port }),
  monitor: content.monitor.meta({ default: DEFAULT_SETTINGS.monitor }),
  timeout: content.timeout.meta({ default: DEFAULT_SETTINGS.timeout }),
};

export const RecordCreate = z
  .strictObject({ ...nameAndType, ...content, ...defaults })
  .meta({ id: 'RecordCreate' });

/** Members that an update ignores, so that a response can be sent back. `id` identifies the record. */
const RECORD_FACTS = [
  'user_id',
  'domain_id',
  'original_name',
  'dns_content',
  'editable',
  'created_at',
  'updated_at',
  'warnings',
] as const;

const changes = z.object({ ...nameAndType, ...content }).partial().shape;
const ignored = z.unknown().optional().describe('Read-only. Ignored in requests.');
const facts = Object.fromEntries(RECORD_FACTS.map((name) => [name, ignored])) as Record<never, never>;

/** An update. Members that are left out stay unchanged. */
export const RecordUpdate = z
  .strictObject({ ...changes, ...facts, ...({ id: ignored } as Record<never, never>) })
  .meta({ id: 'RecordUpdate' });

/** One item of a batch's `update`. */
export const RecordUpdateItem = z
  .strictObject({ id: Id, ...changes, ...facts })
  .meta({ id: 'RecordUpdateItem' });

/** A record as its owner wrote it at a given time. */
const written = {
  id: Id,
  name: z.string().describe('Relative to the domain; `@` is the domain itself.'),
  original_name: z.string().describe('The full name, with the final dot.'),
  type: RecordType,
  destination: z.string(),
  mx_priority: z.int().min(0).max(MAX_MX_PRIORITY).optional(),
  ttl: z.int().min(0).describe('Seconds.'),
  proxied: z.boolean(),
  captcha: z.boolean(),
  scheme: z.enum(ORIGIN_SCHEMES),
  port: z.int().min(1).max(MAX_PORT),
  host_header: z.string().optional(),
  monitor: z.boolean(),
  dest_country: z.string().optional(),
  timeout: z.int().min(1),
  comment: z.string().optional(),
};

/** A record before or after a change. */
export const ChangedRecord = z.object(written).meta({ id: 'ChangedRecord' });

export const Record = z
  .object({
    ...written,
    user_id: Id,
    domain_id: Id,
    dns_content: z
      .string()
      .describe('The published data in zone file format. For a proxied record: the addresses of the edge.'),
    editable: z.boolean().describe("False for the NS records of the domain's apex, which the service sets."),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Record' });

/** A record in the response to a write. */
export const WrittenRecord = Record.extend({ warnings: Warnings }).meta({ id: 'WrittenRecord' });

export const RecordDeleted = z
  .object({ message: z.string(), warnings: Warnings })
  .meta({ id: 'RecordDeleted' });
