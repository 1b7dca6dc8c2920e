// Imports a zone file: drop, choose or paste it, review the changes, then confirm.

import './records.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useDraft } from '../../app/drafts.ts';
import { domainPath, Link, usePlace } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { Failure, Note } from '../../parts/failure.tsx';
import { CheckField, TextArea } from '../../parts/field.tsx';
import { imports, records } from '../../words/records.ts';
import { mayDo, useDomain } from '../domain/domain-here.ts';
import { Arrival } from './arrival.tsx';
import { FileDrop } from './file-drop.tsx';
import { ImportReview } from './import-review.tsx';
import { WarningList } from './warning-list.tsx';

type Parsed = Schemas['ParsedZoneFile'];
type Imported = Schemas['ImportResult'];

export default function ImportScreen() {
  const { name, domain } = useDomain();
  const say = imports;
  const [text, setText, dropText] = useDraft(`import ${domain.id}`, '');
  const [addsDots, setAddsDots] = useState(false);
  const [parsed, setParsed] = useState<Parsed>();
  const [done, setDone] = useState<{ readonly result: Imported; readonly sentMs: number }>();
  const wanted = useRef({ source: text, dots: addsDots });
  const parse = useAction(async () => {
    setParsed(undefined);
    for (;;) {
      const { current } = wanted;
      const result = await readText(name, current.source, current.dots);
      if (wanted.current === current) return setParsed(result);
    }
  });
  const read = (source: string, dots = addsDots) => {
    setDone(undefined);
    setText(source);
    setAddsDots(dots);
    wanted.current = { source, dots }; // also replaces a pending request
    void parse.run();
  };
  const { query, setQuery } = usePlace();
  useEffect(() => {
    if (query.from !== 'paste') return;
    setQuery({ from: undefined });
    if (text.trim() !== '') read(text);
  }, []);
  const back = (
    <p>
      <Link to={domainPath(name, 'records')}>{say.back}</Link>
    </p>
  );
  if (!mayDo(domain, 'records.edit')) return <Note>{records.readOnly}</Note>;
  if (done !== undefined) {
    const { result, sentMs } = done;
    return (
      <div class="rec">
        <h2>{say.doneTitle}</h2>
        <p>{say.done(result.created, result.overwritten, result.removed)}</p>
        {result.change_id !== undefined && (
          <Arrival domain={name} changeId={result.change_id} sentMs={sentMs} />
        )}
        <WarningList warnings={result.warnings} />
        {result.failed.length > 0 && (
          <Note tone="warn">
            <p>{say.failed(result.failed.length)}</p>
            <ul>
              {result.failed.map(({ index, name: item, type, error }) => (
                <li key={index}>
                  <code>
                    {item} {type}
                  </code>
                  : {error}
                </li>
              ))}
            </ul>
          </Note>
        )}
        {back}
      </div>
    );
  }
  return (
    <div class="rec">
      {back}
      <h2>{say.title}</h2>
      <p>{say.text}</p>
      <FileDrop onText={read} />
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          read(text);
        }}
      >
        <TextArea
          label={say.paste}
          rows={8}
          spellcheck={false}
          class="rec-zone"
          value={text}
          placeholder={say.example}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setParsed(undefined);
          }}
        />
        <CheckField
          label={say.addDots}
          hint={say.addDotsHint}
          checked={addsDots}
          onChange={({ currentTarget: { checked } }) => {
            if (parsed !== undefined || parse.isBusy) read(text, checked);
            else setAddsDots(checked);
          }}
        />
        <Button
          type="submit"
          kind={parsed === undefined ? 'main' : undefined}
          isBusy={parse.isBusy}
          disabled={text.trim() === ''}
        >
          {say.read}
        </Button>
      </form>
      <Failure error={parse.error} />
      {parsed !== undefined && (
        <ImportReview
          parsed={parsed}
          onAddDots={addsDots ? undefined : () => read(text, true)}
          onDone={(result, sentMs) => {
            dropText();
            setParsed(undefined);
            setDone({ result, sentMs });
          }}
        />
      )}
    </div>
  );
}

function readText(domain: string, source: string, dots: boolean): Promise<Parsed> {
  return dataOf(
    api.POST('/domains/{domain}/records/import/parse', {
      params: { path: { domain }, query: dots ? { dots: 'add' } : {} },
      body: source as never,
      bodySerializer: (body: unknown) => body as string,
      headers: { 'Content-Type': 'text/plain; charset=utf-8' },
    }),
  );
}
