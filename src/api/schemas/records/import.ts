// The items of an import, its result, and the items of a zone file.

import { z } from 'zod';
import { DEFAULT_SETTINGS, ORIGIN_SCHEMES } from '../../../zone/records/customer-record.ts';
import { boundedArray, Id } from '../fields.ts';
import { RECORD_TYPE_META, RecordCreate, RecordType, Warnings } from './record.ts';

export const MAX_IMPORT_ITEMS = 100_000;

const { shape } = RecordCreate;
const integer = z.int();
/** Described as what it should be; a number that is none is a fault of its item. */
const number = z.number().meta({ type: 'integer' });

const ttl = 'Seconds, for all records of this name and type';

/** Less strict than a create: one wrong item must not refuse the others. */
const ImportItem = z
  .strictObject({
    ...shape,
    type: z.string().meta({ ...RECORD_TYPE_META, description: 'In any case.' }),
    name: z.string().describe(shape.name.description ?? ''),
    destination: z.string().describe(shape.destination.description ?? ''),
    mx_priority: number
      .meta({
        type: 'integer',
        description:
          'MX only. Without it: that of the record it takes the place of, the one with the same host first, else 10.',
      })
      .optional(),
    ttl: number
      .meta({ type: 'integer', description: `${ttl}; moved into the range that is allowed.` })
      .optional(),
    proxied: z
      .boolean()
      .describe('Of a new record: the edge answers for it. One that is there keeps its own.')
      .optional(),
    scheme: z
      .string()
      .meta({
        enum: [...ORIGIN_SCHEMES],
        default: DEFAULT_SETTINGS.scheme,
        description: 'How the edge reaches the origin.',
      })
      .optional(),
    port: number
      .meta({ type: 'integer', default: DEFAULT_SETTINGS.port, description: 'Of the origin.' })
      .optional(),
    host_header: z.string().describe('Host and SNI towards the origin.').optional(),
    dest_country: z.string().describe('Where the origin is, as two capital letters (ISO 3166).').optional(),
    timeout: number
      .meta({
        type: 'integer',
        default: DEFAULT_SETTINGS.timeout,
        description: 'Seconds to wait for the origin.',
      })
      .optional(),
    comment: z.string().describe('For people.').optional(),
  })
  .meta({ id: 'ImportItem' });

export const RecordsImport = z
  .strictObject({ records: boundedArray(ImportItem).min(1).max(MAX_IMPORT_ITEMS) })
  .meta({ id: 'RecordsImport' });

const count = z.int().min(0);

export const ImportResult = z
  .object({
    created: count.describe('Items that became new records.'),
    overwritten: count.describe('Items that took the place of a record that was there.'),
    removed: count.describe('Records that were there and that their new set has no place for.'),
    records: z
      .array(z.object({ index: count.describe('The place of the item in the list that was sent.'), id: Id }))
      .optional()
      .describe('The record that each item became, new or overwritten. Absent from a dry run.'),
    failed: z
      .array(
        z.object({
          index: count.describe('The place of the item in `records`.'),
          name: z.string(),
          type: z.string(),
          error: z.string(),
        }),
      )
      .describe('Items that were left out. The others went in.'),
    change_id: Id.optional().describe('Absent when nothing differs, and of a dry run.'),
    serial: count.describe('Of the zone from then on; of a dry run: now.'),
    warnings: Warnings,
  })
  .meta({ id: 'ImportResult' });

export const ZoneFileText = z
  .strictObject({
    zone_file: z
      .string()
      .refine((text) => text !== '', 'the zone file is empty')
      .meta({
        minLength: 1,
        description:
          'A zone file (RFC 1035 §5; $INCLUDE is refused), or the JSON of `aws route53 list-resource-record-sets` as text.',
      }),
  })
  .meta({ id: 'ZoneFileText' });

const line = z.int().min(1);
const ParsedRecord = z
  .object({
    ...ImportItem.shape,
    type: RecordType,
    mx_priority: shape.mx_priority,
    ttl: integer.describe(`${ttl}.`).optional(),
    scheme: shape.scheme,
    port: integer.describe('Of the origin; 443 unless said.').optional(),
    timeout: integer.describe('Seconds to wait for the origin; 15 unless said.').optional(),
  })
  .meta({ id: 'ParsedRecord' });

export const ParsedZoneFile = z
  .object({
    records: z.array(ParsedRecord).describe('As an import takes them.'),
    errors: z
      .array(z.object({ line, column: line, error: z.string() }))
      .describe(
        'Lines that cannot be read. Both numbers count from 1. In Route 53 JSON they are the position at which the element of `ResourceRecordSets` begins, and the error names its index and field; `line` in `skipped` and `warnings` is the same.',
      ),
    skipped: z
      .array(z.object({ line, name: z.string(), type: z.string(), reason: z.string() }))
      .describe(
        'Valid records that are not imported, with the reason: the SOA, keys and signatures, a second alias of a name, …',
      ),
    warnings: Warnings,
  })
  .meta({ id: 'ParsedZoneFile' });
