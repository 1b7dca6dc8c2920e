// Schemas of TSIG keys, of the secondaries of a domain, and of their transfers.

import { z } from 'zod';
import { boundedArray, Id, Timestamp } from '../../api/schemas/fields.ts';
import { DNS_PORT } from '../../process/listen-address.ts';
import { TSIG_ALGORITHMS } from '../../store/transfers/keys.ts';
import {
  isPeerPort,
  isSmallNetwork,
  KEY_LABEL,
  LARGE_NETWORK,
  readAddress,
  readKeyName,
  readNetwork,
  readSecret,
  SECRET_CHARACTERS,
  WRONG_LABEL,
  WRONG_PORT,
  WRONG_SECRET,
} from './rules.ts';

const MOST_SECONDARIES = 8;
const MOST_ADDRESSES = 2;
const MOST_NETWORKS = 4;
const MOST_CHARACTERS = 255;

/** A text that `read` converts. */
function readText<T>(maxCharacters: number, read: (text: string) => T | undefined, wrong: string) {
  return z
    .string()
    .max(maxCharacters)
    .transform((text, context): T => {
      const value = read(text);
      if (value !== undefined) return value;
      context.addIssue(wrong);
      return z.NEVER;
    })
    .meta({ type: 'string' });
}

export const NewTsigKey = z
  .strictObject({
    label: z
      .string()
      .toLowerCase()
      .regex(KEY_LABEL, WRONG_LABEL)
      .optional()
      .describe('Creates a key whose name is this label and six random characters.'),
    name: readText(MOST_CHARACTERS, readKeyName, 'expected a domain name')
      .optional()
      .describe('Imports the key of a primary: its name, together with `secret`.'),
    secret: readText(SECRET_CHARACTERS, readSecret, WRONG_SECRET)
      .optional()
      .describe('The secret of an imported key, in base64.'),
    algorithm: z.enum(TSIG_ALGORITHMS).default('hmac-sha256'),
  })
  .meta({ id: 'NewTsigKey' });

export const TsigKey = z
  .object({
    id: Id,
    name: z.string().describe('A domain name with the final dot.'),
    algorithm: z.enum(TSIG_ALGORITHMS),
    secret: z.string().optional().describe('In base64. Only the response that creates the key contains it.'),
    imported: z.boolean().describe('True if a primary chose the name and the secret.'),
    in_use: z
      .boolean()
      .describe('True if a secondary, a primary or an update grant of a domain uses the key.'),
    created_at: Timestamp,
    last_used_at: Timestamp.nullable(),
  })
  .meta({ id: 'TsigKey' });

export const PeerAddress = readText(MOST_CHARACTERS, readAddress, 'expected an IPv4 or IPv6 address');
export const PeerPort = z.int().max(65_535).refine(isPeerPort, WRONG_PORT).default(DNS_PORT);
const network = readText(MOST_CHARACTERS, readNetwork, 'expected a network such as 192.0.2.0/24');

const NewSecondary = z
  .strictObject({
    addresses: boundedArray(PeerAddress)
      .max(MOST_ADDRESSES)
      .default([])
      .describe('Public addresses to which NOTIFY is sent.'),
    port: PeerPort,
    networks: boundedArray(network.refine(isSmallNetwork, LARGE_NETWORK))
      .max(MOST_NETWORKS)
      .default([])
      .describe('Networks from which the secondary transfers. If empty, only its key identifies it.'),
    tsig_key: Id.nullable()
      .default(null)
      .describe("Id of a key that the domain's owner created, with which the secondary signs."),
    transfer: z.boolean().default(true).describe('If true, the secondary may transfer the zone.'),
    notify: z.boolean().default(true).describe('If true, the secondary receives NOTIFY.'),
  })
  .refine(({ transfer, notify }) => transfer || notify, {
    path: ['transfer'],
    error: 'expected true for `transfer`, `notify` or both',
  })
  .refine(({ notify, addresses }) => !notify || addresses.length > 0, {
    path: ['addresses'],
    error: 'expected an address, because `notify` is true',
  })
  .refine(({ transfer, networks, tsig_key }) => !transfer || networks.length > 0 || tsig_key !== null, {
    path: ['networks'],
    error: 'expected a network, or a `tsig_key`, because `transfer` is true',
  })
  .meta({ id: 'NewSecondary' });

export const NewSecondaries = z
  .strictObject({ secondaries: boundedArray(NewSecondary).max(MOST_SECONDARIES) })
  .meta({ id: 'NewSecondaries' });

const Secondary = z
  .object({
    id: Id,
    addresses: z.array(z.string()),
    port: z.int(),
    networks: z.array(z.string()),
    tsig_key: Id.nullable(),
    transfer: z.boolean(),
    notify: z.boolean(),
  })
  .meta({ id: 'Secondary' });

export const Secondaries = z.object({ secondaries: z.array(Secondary) }).meta({ id: 'Secondaries' });

const serial = z.int().min(0).max(0xffff_ffff).nullable();

const PeerTransfers = z.object({
  transfer: z.boolean(),
  notify: z.boolean(),
  notified_serial: serial.describe('The newest serial that was sent in NOTIFY.'),
  acknowledged_at: Timestamp.nullable().describe('When the secondary last answered a NOTIFY.'),
  served_serial: serial.describe('The newest serial that the secondary has taken.'),
  served_at: Timestamp.nullable(),
  form: z
    .enum(['axfr', 'ixfr', 'soa'])
    .nullable()
    .describe('`axfr`: the whole zone. `ixfr`: the differences. `soa`: the secondary was current.'),
  error: z.string().nullable().describe('The last error, unless a later transfer succeeded.'),
  lag_seconds: z
    .int()
    .nullable()
    .describe('For how long the secondary has lacked `serial`; 0 if it has it. Null if it may not transfer.'),
});
export type PeerTransfers = z.input<typeof PeerTransfers>;

export const Transfers = z
  .object({
    serial: serial.describe('The serial of the zone.'),
    secondaries: z.array(
      z.object({ id: Id, addresses: z.array(z.string()), ...PeerTransfers.shape }).meta({
        id: 'SecondaryTransfers',
      }),
    ),
  })
  .meta({ id: 'Transfers' });
