// Route from which an edge reads the private key of a certificate.

import { z } from 'zod';
import { forbidden, notFound, unavailable } from '../../api/answers/problem.ts';
import { edge, route } from '../../api/calls/route.ts';
import { EdgeKey } from '../../api/schemas/edge.ts';
import { idText } from '../../api/schemas/fields.ts';
import { CertificatesUnavailable } from '../../store/certificates/open-certificate.ts';
import { readKey } from '../../store/edges/load-edge-configs.ts';

/** A new edge reads the keys of all domains: 100,000 in 17 minutes. */
const CALLS_A_MINUTE = 6000;

const getCertificate = route(edge(CALLS_A_MINUTE), {
  method: 'GET',
  path: '/edge/v1/certificates/{id}',
  operationId: 'getCertificate',
  tag: 'Edges',
  summary: 'A certificate with its private key.',
  description:
    'Only for a domain that the region of the edge serves, and only over a private connection: TLS that ends in this process, or a connection within the machine without a proxy (403 otherwise). Each read is recorded in the audit log. A 404 means that a certificate with another id replaced it, which the feed reports.',
  params: z.object({ id: idText }),
  response: EdgeKey,
  async run({ api: { db }, edge, params: { id }, log }) {
    if (!edge.isPrivate)
      return forbidden(
        'private keys are sent only over TLS that ends in this process (EDGE_LISTEN), or within this machine without a proxy',
      );
    try {
      const read = await readKey(db, edge, id, edge.address);
      if (read === undefined) return notFound('certificate');
      return { id, certificate: read.chain, private_key: read.privateKey };
    } catch (error) {
      if (!(error instanceof CertificatesUnavailable)) throw error;
      log.error(
        { err: error },
        'a private key cannot be sent to an edge: see docs/operating/edges.md "Edges"',
      );
      return unavailable('private keys cannot be decrypted now; try again', 60);
    }
  },
});

export const EDGE_CERTIFICATE_ROUTES = [getCertificate];
