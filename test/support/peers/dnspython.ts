// dnspython as a client for dynamic updates.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Present if Debian's dnspython is installed. */
export const DNSPYTHON = '/usr/lib/python3/dist-packages/dns';

/**
 * Sends `lines`, written as for nsupdate, as one update over TCP. The key is written as `algorithm:name:secret`, '' for
 * none. Further lines write messages that nsupdate cannot:
 *
 *     zonetype TYPE                                     the type in the zone section
 *     raw prereq|update NAME TTL CLASS TYPE [RDATA]     a record as it is
 *
 * Returns the rcode, and the name of an error that dnspython finds in the reply.
 */
export async function dnspython(port: number, key: string, lines: readonly string[]): Promise<string> {
  const given = JSON.stringify({ port, key: key.split(':'), lines });
  return (await promisify(execFile)('/usr/bin/python3', ['-c', SCRIPT, given])).stdout.trim();
}

const SCRIPT = `
import json, socket, struct, sys
import dns.message, dns.rcode, dns.rdatatype, dns.rrset, dns.tsig, dns.update
given = json.loads(sys.argv[1])
zone_class, update = 'IN', None
for line in given['lines']:
    verb, *words = line.split(' ')
    if verb == 'class': zone_class = words[0]
    elif verb == 'zone': update = dns.update.UpdateMessage(words[0], rdclass=zone_class)
    elif verb == 'zonetype': update.zone[0].rdtype = dns.rdatatype.from_text(words[0])
    elif verb == 'prereq':
        kind, name, *rest = words
        require = update.present if kind.startswith('yx') else update.absent
        require(name, *rest[:1], *([' '.join(rest[1:])] if rest[1:] else []))
    elif verb == 'update' and words[0] == 'add':
        update.add(*words[1:4], ' '.join(words[4:]))
    elif verb == 'update':
        update.delete(*words[1:3], *([' '.join(words[3:])] if words[3:] else []))
    else:
        section, name, ttl, of_class, of_type, *rdata = words
        record = dns.rrset.from_text(name, int(ttl), of_class, of_type, *([' '.join(rdata)] if rdata else []))
        (update.prerequisite if section == 'prereq' else update.update).append(record)
if len(given['key']) == 3:
    algorithm, name, secret = given['key']
    update.use_tsig(dns.tsig.Key(name, secret, algorithm))
wire = update.to_wire()
with socket.create_connection(('127.0.0.1', given['port']), 20) as connection:
    connection.sendall(struct.pack('!H', len(wire)) + wire)
    stream = connection.makefile('rb')
    reply = stream.read(struct.unpack('!H', stream.read(2))[0])
try:
    dns.message.from_wire(reply, keyring=update.keyring, request_mac=update.mac)
    error = ''
except dns.exception.DNSException as raised:
    error = ' ' + type(raised).__name__
print(dns.rcode.to_text(reply[3] & 15) + error)
`;
