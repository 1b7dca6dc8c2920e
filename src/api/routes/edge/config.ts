// `GET /edge/v1/config`: streams its configuration to an edge.

import { decodeEdgeCursor } from '../../../store/edges/edge-cursor.ts';
import { unavailable } from '../../answers/problem.ts';
import { StreamedLines } from '../../answers/stream-lines.ts';
import { edge, route } from '../../calls/route.ts';
import { streamConfigs } from '../../edge/config-stream.ts';
import { ConfigLines, ConfigQuery } from '../../schemas/edge.ts';

/** An edge opens a new stream only when the previous one has ended. */
const CALLS_A_MINUTE = 60;

export const followConfig = route(edge(CALLS_A_MINUTE), {
  method: 'GET',
  path: '/edge/v1/config',
  operationId: 'followConfig',
  tag: 'Edges',
  summary: 'Everything that the edge serves, then each change as it happens.',
  description:
    'The answer does not end by itself: it ends when the token counts no more, when the edge has begun more streams than it may have, when it does not read, and when this process stops. Ask again with the cursor of the last line that was applied.',
  query: ConfigQuery,
  response: ConfigLines,
  textResponse: 'application/x-ndjson',
  async run({ api: { edgeFeed }, edge, query: { after }, gone }) {
    if (edgeFeed === undefined) return unavailable('no edge is served here', 60);
    const { ended, leave } = edgeFeed.join(edge);
    const over = AbortSignal.any([gone, ended]);
    over.addEventListener('abort', leave);
    if (over.aborted) leave();
    const cursor = after === undefined ? undefined : decodeEdgeCursor(after);
    return new StreamedLines(streamConfigs(edgeFeed, { region: edge.region, cursor, ended: over }), leave);
  },
});
