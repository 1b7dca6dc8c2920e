// The DS records to enter at the registrar, as text and field by field, and those to remove.

import { CopyButton } from '../../parts/button.tsx';
import { dnssec } from '../../words/dnssec.ts';
import { type Dnssec, dsFieldsOf } from './steps.ts';

const text = dnssec.registrar;

export function RegistrarCard({ dnssec: { registrar, ds, dnskey, status } }: { readonly dnssec: Dnssec }) {
  const { action, add, remove } = registrar;
  const isToDo = action === 'add' || action === 'replace' || action === 'remove';
  const shown = ds.filter(({ digest_type: type }) => type === 2);
  if (!isToDo && shown.length === 0) return null;
  return (
    <section class="card dnssec-registrar">
      <h2>{isToDo ? text.titles[action] : text.listed}</h2>
      {isToDo ? (
        <>
          <p>{text.intros[action]}</p>
          {add.length > 0 && add.some(({ cds }) => cds) && <p class="quiet">{text.cds}</p>}
          {add.map((record) => (
            <DsBox key={record.text} title={text.add} text={record.text} />
          ))}
          {remove.map((record) => (
            <DsBox key={record} title={text.remove} text={record} isRemoved />
          ))}
        </>
      ) : (
        <>
          <p>{status === 'ds_removal' || status === 'unsigning' ? text.leaving : text.nothing}</p>
          {shown.map((record) => (
            <DsBox key={record.text} text={record.text} />
          ))}
        </>
      )}
      {ds.length > 0 && (
        <details>
          <summary>{text.otherForms}</summary>
          <p class="quiet">{text.otherFormsText}</p>
          {ds
            .filter(({ digest_type: type }) => type !== 2)
            .map((record) => (
              <DsBox key={record.text} title={text.longDigest} text={record.text} />
            ))}
          {dnskey
            .filter(({ key_tag: tag }) => ds.some(({ key_tag }) => key_tag === tag))
            .map((key) => (
              <dl class="facts" key={key.text}>
                <Field term={text.fields.flags} value={String(key.flags)} />
                <Field term={text.fields.protocol} value={String(key.protocol)} />
                <Field term={text.fields.algorithm} value={String(key.algorithm)} />
                <Field term={text.fields.publicKey} value={key.public_key} />
              </dl>
            ))}
        </details>
      )}
    </section>
  );
}

interface DsBoxProps {
  readonly title?: string;
  readonly text: string;
  readonly isRemoved?: boolean;
}

function DsBox({ title, text: record, isRemoved = false }: DsBoxProps) {
  const fields = dsFieldsOf(record);
  return (
    <div class={`dnssec-ds ${isRemoved ? 'remove' : ''}`}>
      {title !== undefined && <h3>{title}</h3>}
      {fields !== undefined && (
        <dl class="facts">
          <Field term={text.fields.keyTag} value={fields.keyTag} />
          <Field
            term={text.fields.algorithm}
            value={fields.algorithm}
            hint={nameIn(text.algorithms, fields.algorithm)}
          />
          <Field
            term={text.fields.digestType}
            value={fields.digestType}
            hint={nameIn(text.digestTypes, fields.digestType)}
          />
          <Field term={text.fields.digest} value={fields.digest} />
        </dl>
      )}
      <p class="quiet dnssec-line">{text.asLine}</p>
      <div class="copyable">
        <code>{record}</code>
        <CopyButton text={record} label={text.asLineLabel} />
      </div>
    </div>
  );
}

function nameIn(names: Readonly<Record<string, string>>, number: string): string | undefined {
  return Object.hasOwn(names, number) ? names[number] : undefined;
}

function Field({
  term,
  value,
  hint,
}: {
  readonly term: string;
  readonly value: string;
  readonly hint?: string | undefined;
}) {
  return (
    <>
      <dt>{term}</dt>
      <dd>
        <div class="copyable">
          <code>{value}</code>
          <CopyButton text={value} label={term} />
        </div>
        {hint !== undefined && <span class="quiet">{hint}</span>}
      </dd>
    </>
  );
}
