// English texts of secondary servers.

import { durationText } from './figures.ts';

export const secondaries = {
  none: 'No secondaries',
  what: 'A secondary is a nameserver of another operator that keeps a copy of your records and also answers for your domain. It transfers the copy from our nameservers, which notify it of every change.',
  external: 'The DNS of this domain is external, so there are no records here that a secondary can transfer.',
  notServed: 'Our nameservers refuse transfers until they serve all records of this domain.',
  columns: {
    server: 'Server',
    state: 'State',
    here: 'Serial here',
    there: 'Serial there',
    contact: 'Last contact',
    error: 'Last error',
  },
  states: {
    current: 'up to date',
    behind: 'behind',
    unseen: 'not seen yet',
    notified: 'notified',
  },
  lag: (seconds: number) => `for ${durationText(seconds)}`,
  may: (it: { transfer: boolean; notify: boolean; networks: readonly string[] }) =>
    !it.transfer
      ? 'NOTIFY only'
      : `transfers from ${it.networks.length === 0 ? 'any address' : it.networks.join(', ')}${it.notify ? '' : ', no NOTIFY'}`,
  add: 'Add a secondary',
  added: 'The secondary was added. Our nameservers accept it within 5 seconds.',
  primaries: (nameservers: readonly string[]) =>
    `At the other operator, configure our nameservers as primaries: ${nameservers.join(', ')}.`,
  addresses: 'Address',
  port: 'Port',
  key: 'TSIG key',
  newKey: 'Create a key',
  noKey: 'none',
  revokedKey: 'a revoked key',
  ownersKey: 'a key of the owner',
  label: 'Name of the key',
  networks: 'Networks that it transfers from',
  transfer: 'It may transfer the records',
  notify: 'It receives NOTIFY after each change',
  hints: {
    addresses: 'Public IPv4 or IPv6 address that receives NOTIFY. You can enter two, separated by a comma.',
    key: 'With a key, both sides recognize each other by signatures.',
    othersKeys: 'Only the owner of the domain can use keys.',
    label: 'Letters, digits and hyphens. We append six random characters.',
    networks: 'Such as 192.0.2.0/24. If empty, only the address above.',
    networksOfKey: 'Such as 192.0.2.0/24. If empty, any address that uses the key.',
  },
  remove: 'Remove',
  removed: 'The secondary was removed.',
  removeTitle: (name: string) => `Remove the secondary ${name}?`,
  removeText:
    'It can no longer transfer the records, but answers from its copy until the copy expires. First remove its nameservers at your registrar and from your NS records.',
  keys: {
    title: 'TSIG keys',
    what: 'They belong to your account, and all your domains can use them. Their secrets cannot be shown again.',
    made: 'The TSIG key was created.',
    once: 'The secret is shown only once. Enter all three values at the other operator.',
    name: 'Name',
    algorithm: 'Algorithm',
    secret: 'Secret',
    nameLabel: 'the name of the key',
    secretLabel: 'the secret',
    kept: 'I have saved it',
    used: 'Last used',
    never: 'never',
    inUse: 'in use',
    revoke: 'Revoke',
    revokeTitle: (name: string) => `Revoke the key ${name}?`,
    revokeText: 'Messages that are signed with this key are rejected within 5 seconds. You cannot undo this.',
    revoked: (name: string) => `The key ${name} was revoked.`,
  },
};
