// The items of an import, its result, and the items of a zone file.

import { z } from 'zod';
import { DEFAULT_SETTINGS, ORIGIN_SCHEMES } from '../../../zone/records/customer-record.ts';
import { boundedArray, Id } from '../fields.ts';
import { RECORD_TYPE_META, RecordCreate, RecordType, Warnings } from './record.ts';

export const MAX_IMPORT_ITEMS = 100_000;

const { shape } = RecordCreate;
const integer = z.int();
/** Described as an integer. A number that is not an integer is an error of its item only. */
const number = z.number().meta({ type: 'integer' });

const ttl = 'Seconds, for all records of this name and type';

/** Less strict than a create, so that one wrong item does not refuse the others. */
const ImportItem = z
  .strictObject({
    ...shape,
    type: z.string().meta({ ...RECORD_TYPE_META, description: 'Case-insensitive.' }),
    name: z.string().describe(shape.name.description ?? ''),
    destination: z.string().describe(shape.destination.description ?? ''),
    mx_priority: number
      .meta({
        type: 'integer',
        description:
          'Only for MX. Default: the priority of the record that it replaces (preferably the one with the same host), otherwise 10.',
      })
      .optional(),
    ttl: number
      .meta({
        type: 'integer',
        description: `${ttl}. Values outside the allowed range are changed to its nearest limit.`,
      })
      .optional(),
    proxied: z
      .boolean()
      .describe('For a new record: true if the edge answers for it. An existing record keeps its value.')
      .optional(),
    scheme: z
      .string()
      .meta({
        enum: [...ORIGIN_SCHEMES],
        default: DEFAULT_SETTINGS.scheme,
        description: 'Protocol between the edge and the origin.',
      })
      .optional(),
    port: number
      .meta({ type: 'integer', default: DEFAULT_SETTINGS.port, description: 'Port of the origin.' })
      .optional(),
    host_header: z.string().describe('Host header and SNI that the edge sends to the origin.').optional(),
    dest_country: z.string().describe('Country of the origin, as two capital letters (ISO 3166).').optional(),
    timeout: number
      .meta({
        type: 'integer',
        default: DEFAULT_SETTINGS.timeout,
        description: 'Seconds to wait for the origin.',
      })
      .optional(),
    comment: z.string().describe('A note for people.').optional(),
  })
  .meta({ id: 'ImportItem' });

export const RecordsImport = z
  .strictObject({ records: boundedArray(ImportItem).min(1).max(MAX_IMPORT_ITEMS) })
  .meta({ id: 'RecordsImport' });

const count = z.int().min(0);

export const ImportResult = z
  .object({
    created: count.describe('Items that created a record.'),
    overwritten: count.describe('Items that replaced an existing record.'),
    removed: count.describe(
      'Existing records that were removed because the new record set does not contain them.',
    ),
    records: z
      .array(z.object({ index: count.describe('Index of the item in the request.'), id: Id }))
      .optional()
      .describe('The record of each item, new or overwritten. Absent for a dry run.'),
    failed: z
      .array(
        z.object({
          index: count.describe('Index of the item in `records`.'),
          name: z.string(),
          type: z.string(),
          error: z.string(),
        }),
      )
      .describe('Items that were not imported. The others were.'),
    change_id: Id.optional().describe('Absent if nothing changed, and for a dry run.'),
    serial: count.describe('Serial of the zone after the change. For a dry run: the current serial.'),
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
          'A zone file (RFC 1035 §5, but $INCLUDE is refused), or the JSON output of `aws route53 list-resource-record-sets` as text.',
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
    port: integer.describe('Port of the origin. Default: 443.').optional(),
    timeout: integer.describe('Seconds to wait for the origin. Default: 15.').optional(),
  })
  .meta({ id: 'ParsedRecord' });

export const ParsedZoneFile = z
  .object({
    records: z.array(ParsedRecord).describe('In the format of an import.'),
    errors: z
      .array(z.object({ line, column: line, error: z.string() }))
      .describe(
        'Lines that cannot be read. Both numbers count from 1. In Route 53 JSON, they are the position at which the element of `ResourceRecordSets` begins, and the error names its index and field. `line` in `skipped` and `warnings` has the same meaning.',
      ),
    skipped: z
      .array(z.object({ line, name: z.string(), type: z.string(), reason: z.string() }))
      .describe(
        'Valid records that are not imported, with the reason: for example the SOA, keys and signatures, or a second alias of a name.',
      ),
    warnings: Warnings,
  })
  .meta({ id: 'ParsedZoneFile' });
