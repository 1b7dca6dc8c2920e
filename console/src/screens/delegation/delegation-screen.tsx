// The delegation of a domain: its state, the nameservers to enter, the current delegation, the findings, and the history.

import { useEffect, useRef, useState } from 'preact/hooks';
import { Failure } from '../../parts/failure.tsx';
import { delegation } from '../../words/delegation.ts';
import { words } from '../../words/words.ts';
import { useDomain } from '../domain/domain-here.ts';
import { BecameLive } from './became-live.tsx';
import { CheckNow } from './check-now.tsx';
import './delegation.css';
import { FindingList } from './finding-list.tsx';
import { History } from './history.tsx';
import { Picture } from './picture.tsx';
import { Registrar } from './registrar.tsx';
import { Standing } from './standing.tsx';
import { TxtHistory } from './txt-history.tsx';
import { TxtPicture, TxtRecord } from './txt-record.tsx';
import { useChecks } from './use-checks.ts';

export default function DelegationScreen() {
  const { name, domain } = useDomain();
  const { latest, progress, dropProgress, news, reload } = useChecks();
  const [isLooking, setLooking] = useState(false);
  const [isNewlyLive, setNewlyLive] = useBecameLive(domain.status);
  const check = latest.data?.check;
  const isKnown = latest.data !== undefined;
  const record = domain.verification;
  const isExternal = domain.dns_mode === 'external';
  const isClosed = domain.status === 'banned';
  return (
    <div class="stack delegation">
      {isNewlyLive && <BecameLive domain={domain} onClose={() => setNewlyLive(false)} />}
      <Standing domain={domain} check={check} isKnown={isKnown}>
        <CheckNow
          lastAt={isExternal ? record?.checked_at : check?.last_seen_at}
          nextAt={isExternal ? record?.next_attempt_at : domain.next_check_at}
          progress={progress}
          onBusy={setLooking}
          onDone={() => {
            dropProgress();
            return reload();
          }}
        />
      </Standing>
      <Failure error={latest.error} onRetry={() => void latest.reload()} />
      <Turn />
      {isExternal ? (
        record !== undefined && (
          <>
            <TxtRecord domain={domain} record={record} />
            <TxtPicture record={record} />
            <TxtHistory name={name} news={news} />
          </>
        )
      ) : (
        <>
          {!isClosed && <Registrar domain={domain} check={check} />}
          <Picture
            domain={domain}
            isKnown={isKnown}
            check={check}
            isLooking={isLooking || progress !== undefined}
            progress={progress}
          />
          {record !== undefined && <TxtRecord domain={domain} record={record} />}
        </>
      )}
      <FindingList domain={domain} check={check} />
      {(!isExternal || check !== undefined) && <History name={name} news={news} />}
    </div>
  );
}

function Turn() {
  const { domain } = useDomain();
  const turn = domain.ns_turn;
  if (turn === undefined) return null;
  const text = delegation.turn;
  return (
    <section class="note warn">
      <strong>{text.title}.</strong> {text.text} {text.from} {words.time.date(new Date(turn.from))}{' '}
      {text.until} {words.time.date(new Date(turn.until))}.
    </section>
  );
}

/** True after the status became active while this page was open. */
function useBecameLive(status: string): [boolean, (value: boolean) => void] {
  const [isLive, setLive] = useState(false);
  const before = useRef(status);
  useEffect(() => {
    if (before.current !== 'active' && status === 'active') setLive(true);
    if (status !== 'active') setLive(false);
    before.current = status;
  }, [status]);
  return [isLive, setLive];
}
