// DNS records in responses and in the bodies that create or change them, and warnings about them. Rules that depend on
// other records or on the type are in src/zone.

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

/** The JSON schema. It has no `type`, so that generated clients read each alternative as a type. */
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
  .meta({ ...RECORD_TYPE_META, description: 'In any case.' });

const Warning = z
  .object({
    line: z.int().min(1).optional().describe('In the zone file. Counts from 1.'),
    name: z.string().describe('Owner of the record, relative to the domain; `@` is the domain itself.'),
    type: z.string(),
    code: z.enum(WARNING_CODES),
    message: z.string(),
  })
  .meta({ id: 'Warning' });

export const Warnings = z
  .array(Warning)
  .describe(
    'Records that are allowed but probably wrong, and in a parse also those that an import would leave out. A warning never prevents a write.',
  );

const Name = z.string().min(1).max(1024);
const comment = z
  .string()
  .refine(
    (text) => !isLongerThan(text, MAX_COMMENT_CHARACTERS),
    `expected at most ${MAX_COMMENT_CHARACTERS} characters`,
  )
  .meta({ maxLength: MAX_COMMENT_CHARACTERS, description: 'For people. Empty: none.' });

/** The members of a record in a set, beside name and type. */
const content = {
  destination: z
    .string()
    .min(1)
    .describe(
      'Addresses and hosts as such, the bare text of a TXT, everything else as in a zone file. Of a proxied record: the origin.',
    ),
  mx_priority: z.int().min(0).max(MAX_MX_PRIORITY).describe('MX only, and needed there.').optional(),
  ttl: z
    .int()
    .min(MIN_TTL_SECONDS)
    .max(MAX_TTL_SECONDS)
    .describe('Seconds, for all records of this name and type. Without it: theirs, or 300.')
    .optional(),
  proxied: z.boolean().describe('The edge answers for it: A, AAAA, CNAME, ANAME only.').optional(),
  captcha: z.boolean().describe('Visitors are challenged before the origin.').optional(),
  scheme: z.enum(ORIGIN_SCHEMES).describe('How the edge reaches the origin.').optional(),
  port: z.int().min(1).max(MAX_PORT).describe('Of the origin; 443 unless said.').optional(),
  host_header: z
    .string()
    .max(255)
    .describe('Host and SNI towards the origin. Empty: as the visitor asked.')
    .optional(),
  monitor: z.boolean().describe('Counts in uptime monitoring.').optional(),
  dest_country: z
    .string()
    .regex(/^([A-Z]{2})?$/, 'expected two capital letters (ISO 3166)')
    .describe('Where the origin is. Empty: found by the service.')
    .optional(),
  timeout: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_SECONDS)
    .describe('Seconds to wait for the origin; 15 unless said.')
    .optional(),
  comment: comment.optional(),
};

const nameAndType = {
  name: Name.describe('Relative to the domain, `@` for the domain itself, or the full name.'),
  type: RecordTypeText,
};

export const RecordContent = z.strictObject(content).meta({ id: 'RecordContent' });

/** What a new record has where nothing is said. */
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

/**
 * Members that an update takes and ignores, so that a body that was read can be sent back. `id` is not among them: it
 * names the record.
 */
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
const ignored = z.unknown().optional().describe('Read-only: ignored.');
const facts = Object.fromEntries(RECORD_FACTS.map((name) => [name, ignored])) as Record<never, never>;

/** An update; members that are left out stay unchanged. */
export const RecordUpdate = z
  .strictObject({ ...changes, ...facts, ...({ id: ignored } as Record<never, never>) })
  .meta({ id: 'RecordUpdate' });

/** One item of a batch's `update`. */
export const RecordUpdateItem = z
  .strictObject({ id: Id, ...changes, ...facts })
  .meta({ id: 'RecordUpdateItem' });

/** A record as its owner wrote it at some time. */
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
      .describe('What is published, as in a zone file: the addresses of the edge where it is proxied.'),
    editable: z.boolean().describe('False for the nameservers of the domain, which the service sets.'),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Record' });

/** A record as the answer to a write shows it. */
export const WrittenRecord = Record.extend({ warnings: Warnings }).meta({ id: 'WrittenRecord' });

export const RecordDeleted = z
  .object({ message: z.string(), warnings: Warnings })
  .meta({ id: 'RecordDeleted' });
