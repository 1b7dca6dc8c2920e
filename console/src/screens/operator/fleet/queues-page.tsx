// How much each queue of the workers has to do.

import { admin, dataOf } from '../../../api/client.ts';
import { useLoad } from '../../../api/use-load.ts';
import { Empty } from '../../../parts/failure.tsx';
import { Loading } from '../../../parts/loading.tsx';
import { now } from '../../../parts/time.tsx';
import { words } from '../../../words/words.ts';
import { Freshness, useEvery10s } from '../fresh.tsx';
import { findTroubles } from './find-troubles.ts';
import { QueueTable } from './queue-table.tsx';
import { TroubleList } from './trouble-list.tsx';

/** A page of the API, not of the console: it opens beside it. */
const BOARD = '/console/queues/';
const say = words.operator.queues;

export default function QueuesPage() {
  const queues = useLoad('queues', (signal) => dataOf(admin.GET('/admin/queues', { signal })));
  useEvery10s(queues.reload);
  return (
    <div class="stack">
      <div class="head">
        <h1>{words.operator.pages.queues}</h1>
        <div class="actions">
          <Freshness of={queues} />
        </div>
      </div>
      <p class="quiet">
        {say.text}{' '}
        <a href={BOARD} target="_blank" rel="noopener">
          {say.board}
        </a>
      </p>
      <Loading of={queues}>
        {(rows) => {
          const troubles = findTroubles({ queues: rows }, now.value);
          if (rows.length === 0) {
            return (
              <Empty title={say.none}>
                <p>{say.noneText}</p>
              </Empty>
            );
          }
          return (
            <>
              {troubles.length > 0 && (
                <TroubleList troubles={troubles} onMended={() => void queues.reload()} />
              )}
              <QueueTable queues={rows} />
            </>
          );
        }}
      </Loading>
    </div>
  );
}
