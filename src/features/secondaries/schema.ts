// Schemas of the primaries of a domain, and of the copy that is made from them.

import { z } from 'zod';
import { boundedArray, Id, Timestamp } from '../../api/schemas/fields.ts';
import { PeerAddress, PeerPort } from '../transfers/schema.ts';
import { MOST_PRIMARIES, REFRESH_FINDINGS } from './rules.ts';
import { SECONDARY_STATES } from './sql.ts';

const NewPrimary = z
  .strictObject({
    address: PeerAddress.describe('A public address.'),
    port: PeerPort,
    tsig_key: Id.nullable()
      .default(null)
      .describe("Id of a key that the domain's owner imported, with which queries are signed."),
  })
  .meta({ id: 'NewPrimary' });

export const NewPrimaries = z
  .strictObject({
    primaries: boundedArray(NewPrimary)
      .min(1)
      .max(MOST_PRIMARIES)
      .describe('In the order in which they are asked.'),
  })
  .meta({ id: 'NewPrimaries' });

const Primary = z
  .object({ id: Id, address: z.string(), port: z.int(), tsig_key: Id.nullable() })
  .meta({ id: 'Primary' });

export const Primaries = z
  .object({
    primaries: z.array(Primary),
    state: z
      .enum(SECONDARY_STATES)
      .nullable()
      .describe(
        '`waiting`: not transferred yet. `current`. `failing`: the last refresh failed. `held`: the copy would have expired, but so many copies would that it is still answered. `expired`: queries get SERVFAIL. Null without primaries.',
      ),
    serial: z.int().min(0).max(0xffff_ffff).nullable().describe('The serial of the copy.'),
    form: z
      .enum(['axfr', 'ixfr'])
      .nullable()
      .describe('The last transfer. `axfr`: the whole zone. `ixfr`: the differences.'),
    transferred_at: Timestamp.nullable(),
    refreshed_at: Timestamp.nullable().describe('When a primary last confirmed the serial of the copy.'),
    next_refresh_at: Timestamp.nullable(),
    expires_at: Timestamp.nullable().describe('A refresh that fails after this time expires the copy.'),
    last_error: z.enum(REFRESH_FINDINGS).nullable().describe('Why the last refresh failed.'),
    message: z.string().nullable().describe('The last error as a sentence with the server.'),
  })
  .meta({ id: 'Primaries' });

export const EndedCopy = z
  .object({
    records: z.int().describe('Number of records of the copy that the domain keeps.'),
    dropped: z
      .int()
      .describe('Number of records of the copy that a domain here cannot have, such as signatures.'),
    serial: z.int().describe("The zone's serial, which is newer than that of the copy."),
  })
  .meta({ id: 'EndedCopy' });
