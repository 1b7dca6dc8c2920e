// The queues of the workers.

import { admin, dataOf } from '../../../api/client.ts';
import { useLoad } from '../../../api/use-load.ts';
import { Empty } from '../../../parts/failure.tsx';
import { Loading } from '../../../parts/loading.tsx';
import { now } from '../../../parts/time.tsx';
import { operator } from '../../../words/operator.ts';
import { words } from '../../../words/words.ts';
import { Freshness, useEvery10s } from '../fresh.tsx';
import { findProblems } from './find-problems.ts';
import { ProblemList } from './problem-list.tsx';
import { QueueTable } from './queue-table.tsx';

/** A page of the API, not of the console, so it opens in a new tab. */
const BOARD = '/console/queues/';
const say = operator.queues;

export default function QueuesPage() {
  const queues = useLoad('queues', (signal) => dataOf(admin.GET('/admin/queues', { signal })));
  useEvery10s(queues.reload);
  return (
    <div class="stack">
      <div class="head">
        <h1>{words.frame.operatorPages.queues}</h1>
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
          const problems = findProblems({ queues: rows }, now.value);
          if (rows.length === 0) {
            return (
              <Empty title={say.none}>
                <p>{say.noneText}</p>
              </Empty>
            );
          }
          return (
            <>
              {problems.length > 0 && (
                <ProblemList problems={problems} onMended={() => void queues.reload()} />
              )}
              <QueueTable queues={rows} />
            </>
          );
        }}
      </Loading>
    </div>
  );
}
