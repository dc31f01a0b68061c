import type { WorkerFlow } from '../common/answers.ts';
import { rateText, short, shortClass } from '../common/format.ts';
import { connectorAddress } from '../common/addresses.ts';
import { rows } from '../common/fleet-store.ts';
import { sqlAddressAt, useDatabase } from '../common/sql-link.tsx';
import { quotedName, tableIn } from '../common/sql-names.ts';
import { texts } from '../texts/connector.ts';
import { addedUp, flowBoxes, timeText, type FlowBox } from './flow.ts';
import './flow-picture.css';

interface FlowPictureProps {
  readonly name: string;
  readonly workers: readonly WorkerFlow[];
  readonly isSink: boolean;
}

const MAX_NAMES = 4;
/** Maximum length of the topics in the list of connectors. */
const MAX_LISTED = 200;

/** Shows the stages that a record passes in the connector, as a list of boxes. */
export function FlowPicture({ name, workers, isSink }: FlowPictureProps) {
  const boxes = flowBoxes(workers, isSink);
  const slowest = Math.max(0, ...boxes.map(({ microseconds }) => microseconds ?? 0));
  return (
    <section>
      <h2>{texts.flow}</h2>
      <ol class="flow">
        {boxes.map((box, index) => (
          <li key={`${box.kind} ${box.name} ${String(index)}`} class={box.errors > 0 ? 'box failing' : 'box'}>
            <span class="kind">{kindText(box.kind, isSink)}</span>
            {box.kind === 'transform' ? <strong>{nameOf(box)}</strong> : null}
            {box.kind === 'topics' ? <Topics name={name} workers={workers} isSink={isSink} /> : null}
            {box.kind === 'tables' ? <Tables name={name} workers={workers} isSink={isSink} /> : null}
            <span class="figures">
              <span>{texts.perSecond(rateText(box.rate))}</span>
              <Time box={box} isSlowest={box.microseconds === slowest && slowest > 0} />
            </span>
            {box.passed < 0.995 ? (
              <span class="quiet">{texts.passes(`${(box.passed * 100).toFixed(0)} %`)}</span>
            ) : null}
            {box.errors > 0 ? <span class="problem">{texts.stageErrors(box.errors)}</span> : null}
          </li>
        ))}
      </ol>
      <p class="quiet">
        {texts.flowNote} {workers.length > 1 ? texts.workersOf(workers.map(({ worker }) => worker).join(', ')) : ''}
      </p>
    </section>
  );
}

function Time({
  box: { kind, microseconds, rate },
  isSlowest,
}: {
  readonly box: FlowBox;
  readonly isSlowest: boolean;
}) {
  if (microseconds !== null) return <span class={isSlowest ? 'slowest' : ''}>{timeText(microseconds)}</span>;
  if (kind !== 'converter' && kind !== 'transform') return null;
  return <span class="quiet">{rate > 0 ? texts.notMeasured : texts.notYet}</span>;
}

function kindText(kind: FlowBox['kind'], isSink: boolean): string {
  if (kind === 'topics') return texts.topic;
  if (kind === 'tables') return texts.table;
  if (kind === 'task') return isSink ? texts.put : texts.poll;
  return kind === 'converter' ? texts.converter : texts.transform;
}

function nameOf({ name, className }: FlowBox): string {
  return className === '' ? name : `${name} (${shortClass(className)})`;
}

function Topics({ name, workers, isSink }: FlowPictureProps) {
  const topics = isSink
    ? addedUp(
        workers.flatMap((each) => each.topics),
        ({ lag }) => lag,
      )
    : writtenTopics(name);
  const addressOf = (topic: string): string => connectorAddress(name, 'data', { topic });
  return <Names items={topics} addressOf={addressOf} text={(lag) => texts.behind(short(lag))} />;
}

/** The topics that a source has written, from the list of connectors, which cuts off a long list. */
function writtenTopics(name: string): NamesProps['items'] {
  const { topics = '' } = rows.value.find((row) => row.name === name) ?? {};
  const names = topics.split(', ').filter((topic) => topic !== '');
  return (topics.length < MAX_LISTED ? names : names.slice(0, -1)).map((topic) => ({ name: topic, value: null }));
}

function Tables({ name, workers, isSink }: FlowPictureProps) {
  const database = useDatabase(name);
  const tables = isSink
    ? addedUp(
        workers.flatMap((each) => each.tables),
        ({ rows }) => rows,
      )
    : addedUp(
        workers.flatMap((each) => each.parts),
        ({ counts }) => counts['rows'] ?? null,
      );
  const schema = database?.place?.schema ?? null;
  // A sink reports tables without their schemas, so that a dot belongs to the name.
  const quoted = (table: string): string =>
    isSink ? [schema ?? [], table].flat().map(quotedName).join('.') : tableIn(schema, table);
  const addressOf = (table: string): string | undefined =>
    sqlAddressAt(database, `select * from ${quoted(table)} limit 100`);
  return <Names items={tables} addressOf={addressOf} text={(rows) => texts.rows(short(rows))} />;
}

interface NamesProps {
  /** Returns `undefined` for a name that is not a link. */
  readonly addressOf: (name: string) => string | undefined;
  readonly items: readonly { readonly name: string; readonly value: number | null }[];
  readonly text: (value: number) => string;
}

function Names({ items, addressOf, text }: NamesProps) {
  return (
    <ul class="names-of-box">
      {items.slice(0, MAX_NAMES).map(({ name, value }) => (
        <li key={name}>
          <Name name={name} address={addressOf(name)} />{' '}
          {value === null ? '' : <span class="quiet">{text(value)}</span>}
        </li>
      ))}
      {items.length > MAX_NAMES ? <li class="quiet">{texts.more(items.length - MAX_NAMES)}</li> : null}
    </ul>
  );
}

function Name({ name, address }: { readonly name: string; readonly address: string | undefined }) {
  return address === undefined ? <span>{name}</span> : <a href={address}>{name}</a>;
}
