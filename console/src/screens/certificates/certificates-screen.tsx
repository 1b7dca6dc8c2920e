// The certificate of a domain: its state, and ordering, uploading and removing it.

import './certificates.css';
import { useEffect, useState } from 'preact/hooks';
import { api, dataOf } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Failure, Note } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { certificates } from '../../words/certificates.ts';
import { mayDo, useDomain } from '../domain/domain-here.ts';
import { Certificate, type Ssl } from './certificate.tsx';
import { Upload } from './upload.tsx';

const text = certificates;

const ASK_MS = { pending: 5000, settled: 60_000 };

export default function CertificatesScreen() {
  const { name, domain } = useDomain();
  const loaded = useLoad(`ssl ${name}`, (signal) =>
    dataOf(api.GET('/domains/{domain}/ssl', { params: { path: { domain: name } }, signal })),
  );
  const { reload, data } = loaded;
  const status = data?.status;
  useEffect(() => {
    const every = status === 'pending' ? ASK_MS.pending : ASK_MS.settled;
    const timer = setInterval(() => {
      if (!document.hidden) void reload();
    }, every);
    return () => clearInterval(timer);
  }, [reload, status]);
  return (
    <Loading of={loaded}>
      {(ssl) => (
        <div class="stack cert">
          <Certificate ssl={ssl} />
          {mayDo(domain, 'ssl.manage') && <Actions ssl={ssl} onChanged={() => void reload()} />}
          {ssl.findings.map(({ code, message }) => (
            <Note key={code + message} tone="warn">
              <p>{message}</p>
            </Note>
          ))}
        </div>
      )}
    </Loading>
  );
}

interface ActionsProps {
  readonly ssl: Ssl;
  readonly onChanged: () => void;
}

function Actions({ ssl: { status }, onChanged }: ActionsProps) {
  const { name, domain } = useDomain();
  const [asked, setAsked] = useState<'upload' | 'delete'>();
  const params = { path: { domain: name } };
  const issue = useAction(async () => {
    await api.POST('/domains/{domain}/ssl/issue', { params });
    toast(text.ordered);
    onChanged();
  });
  const remove = useAction(async () => {
    await api.DELETE('/domains/{domain}/ssl', { params });
    setAsked(undefined);
    toast(text.removed);
    onChanged();
  });
  const code = issue.error?.code;
  return (
    <section class="stack" aria-label={text.actions}>
      <div class="row">
        {status !== 'pending' && (
          <Button
            kind={status === 'none' || status === 'failed' ? 'main' : undefined}
            isBusy={issue.isBusy}
            onClick={() => void issue.run()}
          >
            {status === 'none' ? text.issue : text.issueAgain}
          </Button>
        )}
        <Button onClick={() => setAsked('upload')}>{text.upload}</Button>
        {status !== 'none' && (
          <Button kind="danger" onClick={() => setAsked('delete')}>
            {text.remove}
          </Button>
        )}
      </div>
      <Failure error={issue.error} />
      {code !== undefined && Object.hasOwn(text.refused, code) && (
        <p>{text.refused[code as keyof typeof text.refused]}</p>
      )}
      {asked === 'upload' && (
        <Upload
          onDone={() => {
            setAsked(undefined);
            toast(text.uploaded);
            onChanged();
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
      {asked === 'delete' && (
        <Confirm
          title={text.removeTitle}
          action={text.remove}
          isDanger
          typed={domain.name}
          isBusy={remove.isBusy}
          error={remove.error}
          onConfirm={() => void remove.run()}
          onClose={() => setAsked(undefined)}
        >
          <p>{text.removeText}</p>
        </Confirm>
      )}
    </section>
  );
}
