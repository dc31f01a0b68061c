import { useEffect, useState } from 'preact/hooks';
import { connectorPath, request } from '../common/api.ts';
import { short } from '../common/format.ts';
import type { PartProps } from '../connector/health.ts';
import { texts } from '../texts/letters.ts';

interface Fault {
  readonly stage: string;
  readonly message?: string;
  readonly sqlstate?: string;
  readonly table?: string;
  readonly column?: string;
}

interface Letter {
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly fault: Fault;
  readonly record: unknown;
  readonly keyHex: string | null;
  readonly valueHex: string | null;
  readonly headers: readonly { readonly key: string; readonly value: string | null }[];
}

interface Group {
  readonly id: string;
  readonly count: number;
  readonly stage?: string;
  readonly class?: string;
  readonly sqlstate?: string;
  readonly table?: string;
  readonly column?: string;
  readonly message?: string;
  readonly examples: readonly Letter[];
}

interface DeadLetters {
  readonly topic: string | null;
  readonly scanned: number;
  readonly hasMore: boolean;
  readonly groups: readonly Group[];
  readonly faults: { readonly recent: readonly (Fault & { readonly at: number })[] };
}

interface Preview {
  readonly records: readonly { readonly outcome: string }[];
}

/** Which records of a sink were not stored, and why. */
export function DeadLetters({ name }: Pick<PartProps, 'name'>) {
  const [found, setFound] = useState<DeadLetters | undefined>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    let isOpen = true;
    request<DeadLetters>('GET', `${connectorPath(name)}/dead-letters`).then(
      (answer) => {
        if (isOpen) setFound(answer);
      },
      (error: unknown) => {
        if (isOpen) setProblem((error as Error).message);
      },
    );
    return () => {
      isOpen = false;
    };
  }, [name]);
  return (
    <section>
      <h2>{texts.deadLetters}</h2>
      {problem === '' ? null : (
        <p role="alert" class="problem">
          {problem}
        </p>
      )}
      {found === undefined ? (
        problem === '' && <p class="quiet">{texts.loading}</p>
      ) : (
        <Found name={name} found={found} />
      )}
    </section>
  );
}

function Found({ name, found }: { readonly name: string; readonly found: DeadLetters }) {
  const { topic, groups, faults, scanned, hasMore } = found;
  return (
    <>
      <p class="quiet">{topic === null ? texts.noLetterTopic : texts.letterTopic(topic, short(scanned), hasMore)}</p>
      {groups.map((group) => (
        <GroupView key={group.id} name={name} group={group} />
      ))}
      {topic !== null && groups.length === 0 ? <p>{texts.noLetters}</p> : null}
      {faults.recent.length === 0 ? null : (
        <details>
          <summary>
            {texts.lastFaults} ({faults.recent.length})
          </summary>
          <ul class="plain">
            {faults.recent.map((fault, index) => (
              <li key={index}>
                <time class="quiet">{new Date(fault.at).toLocaleString()}</time> {faultText(fault)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function GroupView({ name, group }: { readonly name: string; readonly group: Group }) {
  const [outcome, setOutcome] = useState('');
  const preview = async (): Promise<void> => {
    setOutcome(texts.loading);
    try {
      const body = { selection: { group: group.id } };
      const { records } = await request<Preview>('POST', `${connectorPath(name)}/dead-letters/preview`, body);
      const counts = new Map<string, number>();
      for (const record of records) counts.set(record.outcome, (counts.get(record.outcome) ?? 0) + 1);
      const parts = [...counts].map(([text, count]) => `${text}: ${String(count)}`);
      setOutcome(texts.previewed(records.length, parts.join(', ')));
    } catch (error) {
      setOutcome((error as Error).message);
    }
  };
  const [first] = group.examples;
  return (
    <details class="group">
      <summary>
        <strong>{short(group.count)}</strong> {first === undefined ? groupText(group) : faultText(first.fault)}
      </summary>
      <div class="bulk">
        <button type="button" onClick={() => void preview()}>
          {texts.whatNow}
        </button>
        <span role="status">{outcome}</span>
      </div>
      {group.examples.map((letter) => (
        <LetterView key={`${String(letter.partition)}-${String(letter.offset)}`} letter={letter} />
      ))}
    </details>
  );
}

function LetterView({ letter }: { readonly letter: Letter }) {
  return (
    <article class="letter">
      <p class="quiet">
        {texts.letterAt(letter.partition, letter.offset, new Date(letter.timestamp).toLocaleString())}
      </p>
      <p>{faultText(letter.fault)}</p>
      <pre tabIndex={0}>{JSON.stringify(letter.record, null, 2)}</pre>
      <details>
        <summary>{texts.bytes}</summary>
        <pre tabIndex={0}>{`${texts.key}   ${letter.keyHex ?? '–'}\n${texts.value} ${letter.valueHex ?? '–'}`}</pre>
        <pre tabIndex={0}>{letter.headers.map(({ key, value }) => `${key}: ${value ?? '–'}`).join('\n')}</pre>
      </details>
    </article>
  );
}

function faultText({ stage, message, sqlstate, table, column }: Fault): string {
  const place = [table, column].filter((part) => part !== undefined).join('.');
  return [stage, sqlstate, place, message].filter((part) => part !== undefined && part !== '').join(' · ');
}

function groupText({ stage = '', message, sqlstate, table, column }: Group): string {
  return faultText({
    stage,
    ...(message === undefined ? {} : { message }),
    ...(sqlstate === undefined ? {} : { sqlstate }),
    ...(table === undefined ? {} : { table }),
    ...(column === undefined ? {} : { column }),
  });
}
