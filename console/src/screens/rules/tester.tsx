// A form that tests what happens to a URL. Only the records of its host are loaded; nothing is requested from the URL.

import { useState } from 'preact/hooks';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { TextField } from '../../parts/field.tsx';
import { rules } from '../../words/rules.ts';
import { useDomain } from '../domain/domain-here.ts';
import { answeringRecords, isOwnHost } from './answering-record.ts';
import { regexFinder } from './find-regex.ts';
import type { FindRegex, Rule, Visit } from './match-rule.ts';
import { readUrl, type TestedUrl } from './read-url.ts';
import { TestResult } from './test-result.tsx';

const text = rules.test;

export interface Asked {
  readonly url: TestedUrl;
  readonly visit: Omit<Visit, 'host' | 'path'>;
  /** Records that answer for the host. Undefined if there are none. */
  readonly found: { readonly name: string; readonly records: readonly Schemas['Record'][] } | undefined;
  /** Undefined if no rule had a regular expression. */
  readonly find: FindRegex | undefined;
}

type FieldName = 'url' | 'country' | 'agent' | 'fingerprint';
/** Maximum number of records that are searched for names below a host. */
const MAX_FOUND = 1000;
const NOTHING = { url: '', country: '', agent: '', fingerprint: '' };

export function Tester({ rules }: { readonly rules: readonly Rule[] }) {
  const { name, domain } = useDomain();
  const [typed, setTyped] = useState(NOTHING);
  const [problem, setProblem] = useState<{ readonly field: FieldName; readonly text: string }>();
  const [asked, setAsked] = useState<Asked>();
  const read = (query: { name: string } | { search: string; limit: number }) =>
    dataOf(api.GET('/domains/{domain}/records/', { params: { path: { domain: name }, query } }));
  const zone = {
    load: (owner: string) => read({ name: owner }),
    hasBelow: async (owner: string) => {
      const found = await read({ search: `.${owner}`, limit: MAX_FOUND }); // also finds destinations
      return found.some((record) => record.original_name.endsWith(`.${owner}.${domain.name}.`));
    },
  };
  const test = useAction(async (url: TestedUrl, country: string) => {
    const found = await answeringRecords(url.host, domain.name, zone);
    const recordIds = (found?.records ?? []).filter(({ proxied }) => proxied).map(({ id }) => id);
    const { agent, fingerprint } = typed;
    const visit = { recordIds, country, agent: agent.trim(), fingerprint: fingerprint.trim().toLowerCase() };
    // The package is large, so it is loaded only if it is needed.
    const find = rules.some(hasRegex) ? regexFinder((await import('re2js')).RE2JS) : undefined;
    setAsked({ url, visit, found, find });
  });
  const submit = () => {
    setAsked(undefined);
    setProblem(undefined);
    const url = readUrl(typed.url, domain.name);
    const country = typed.country.trim().toUpperCase();
    if (url.kind === 'problem') setProblem({ field: 'url', text: text.problems[url.problem] });
    else if (!isOwnHost(url.host, domain.name))
      setProblem({ field: 'url', text: text.foreign(url.host, domain.name_unicode) });
    else if (!/^([A-Z]{2})?$/.test(country)) setProblem({ field: 'country', text: text.problems.country });
    else void test.run(url, country);
  };
  const field = (of: FieldName) => ({
    label: text[of],
    value: typed[of],
    problem: problem?.field === of ? problem.text : undefined,
    dir: 'ltr' as const,
    autocomplete: 'off',
    spellcheck: false,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      setTyped({ ...typed, [of]: event.currentTarget.value }),
  });
  return (
    <section class="card rules-tester" aria-labelledby="rules-test">
      <h2 id="rules-test">{text.title}</h2>
      <p class="quiet">{text.hint}</p>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <TextField {...field('url')} placeholder={`https://${domain.name_unicode}/`} inputMode="url" />
        {rules.some(readsCountry) && <TextField {...field('country')} hint={text.countryHint} />}
        {rules.some(readsAgent) && <TextField {...field('agent')} hint={text.agentHint} />}
        {rules.some(({ type }) => type === 'fingerprint') && (
          <TextField {...field('fingerprint')} hint={text.fingerprintHint} />
        )}
        <Button type="submit" isBusy={test.isBusy}>
          {text.run}
        </Button>
      </form>
      <Failure error={test.error} />
      {asked !== undefined && (asked.find !== undefined || !rules.some(hasRegex)) && (
        <TestResult asked={asked} rules={rules} onClose={() => setAsked(undefined)} />
      )}
    </section>
  );
}

const hasRegex = (rule: Rule) => rule.host_match_type === 'regex' || rule.path_match_type === 'regex';
const readsCountry = (rule: Rule) => rule.type === 'drop' && rule.countries.length > 0;
const readsAgent = (rule: Rule) => rule.type === 'bot_route' && rule.bots === 'list';
