import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { FleetRow } from '../common/answers.ts';
import { causeFirst } from '../common/cause.ts';
import { sortOf, type Sort } from '../common/fleet-row.ts';
import { rateText, short, shortClass } from '../common/format.ts';
import { connectorAddress } from '../common/addresses.ts';
import { Sparkline } from '../common/sparkline.tsx';
import { VerdictBadge } from '../common/verdict-badge.tsx';
import { dateTime, durationText, zoneText } from '../common/time.ts';
import { skewMs } from '../common/fleet-store.ts';
import { Button } from '../kit/button.tsx';
import { texts } from '../texts/fleet.ts';

/** Number of additional rows that are rendered above and below the visible ones. */
const MARGIN = 8;

interface FleetTableProps {
  readonly rows: readonly FleetRow[];
  readonly chosen: ReadonlySet<string>;
  readonly choose: ((names: ReadonlySet<string>) => void) | undefined;
  /** The sort order, in the format of the address. */
  readonly sort: string;
  readonly sortBy: (sort: string) => void;
}

/** The table of connectors. Only rows near the visible area are rendered, which is possible because all rows have the same height. */
export function FleetTable({ rows: all, chosen, choose, sort, sortBy }: FleetTableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [first, last] = useSeenRows(body, all.length);
  const above = Math.min(first, all.length);
  const below = Math.max(0, all.length - last);
  const toggle = (name: string): void => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    choose?.(next);
  };
  return (
    <table class="fleet" aria-rowcount={all.length + 1}>
      <Titles rows={all} chosen={chosen} choose={choose} sort={sort} sortBy={sortBy} />
      <tbody ref={body}>
        <Gap rows={above} />
        {all.slice(first, last).map((row, index) => (
          <Row
            key={row.name}
            row={row}
            number={first + index + 2}
            isChosen={chosen.has(row.name)}
            toggle={choose && (() => toggle(row.name))}
          />
        ))}
        <Gap rows={below} />
      </tbody>
    </table>
  );
}

/** The index of the first row to render, and the index after the last one. */
function useSeenRows(body: RefObject<HTMLElement | null>, count: number): readonly [first: number, last: number] {
  const range = useSignal<readonly [number, number]>([0, 40]);
  useEffect(() => {
    const look = (): void => {
      const { current } = body;
      if (current === null) return;
      const height = rowHeight();
      const top = -current.getBoundingClientRect().top;
      const first = Math.max(0, Math.floor(top / height) - MARGIN);
      const last = Math.ceil((top + innerHeight) / height) + MARGIN;
      if (first !== range.value[0] || last !== range.value[1]) range.value = [first, last];
    };
    look();
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [count]);
  return range.value;
}

/** Fills the space of the rows that are not rendered. */
function Gap({ rows }: { readonly rows: number }) {
  return rows > 0 ? <tr aria-hidden="true" style={{ height: `${String(rows * rowHeight())}px` }} /> : null;
}

interface Column {
  readonly title: string;
  readonly class: string;
  /** The sort key in the address; empty: sorts by verdict, the worst first; absent: the column cannot be sorted. */
  readonly sort?: Sort | '';
  readonly hint?: string;
}

const COLUMNS: readonly Column[] = [
  { title: texts.connector, class: 'name', sort: 'name' },
  { title: texts.verdict, class: 'verdict', sort: '' },
  { title: texts.since, class: 'since', sort: 'since' },
  { title: texts.why, class: 'why' },
  { title: texts.tasks, class: 'number tasks', sort: 'tasks', hint: texts.tasksHint },
  { title: texts.rate, class: 'number', sort: 'rate' },
  { title: texts.lastHour, class: 'wide chart', hint: texts.lastHourHint },
  { title: texts.lag, class: 'number', sort: 'lag' },
  { title: texts.letters, class: 'number wide', sort: 'letters' },
];

/**
 * The title of a column. Pressing it sorts the table: names and times in ascending order, figures in descending order. Pressing it again
 * reverses the order, except that of the verdicts.
 */
function SortTitle({ column: { title, sort, hint, class: name }, now, sortBy }: SortTitleProps) {
  const current = sortOf(now);
  if (sort === undefined)
    return (
      <th scope="col" class={name} title={hint}>
        {title}
      </th>
    );
  const isOn = (current?.by ?? '') === sort;
  const isDescending = isOn ? current?.isDescending === true : false;
  const first = sort === 'name' || sort === 'since' ? sort : `-${sort}`;
  const other = first.startsWith('-') ? sort : `-${sort}`;
  return (
    <th scope="col" class={name} title={hint} aria-sort={!isOn ? undefined : isDescending ? 'descending' : 'ascending'}>
      <Button class="sort" onClick={() => sortBy(sort === '' ? '' : isOn && now === first ? other : first)}>
        {title}
        <span aria-hidden="true">{isOn ? (isDescending ? ' ▾' : ' ▴') : ''}</span>
      </Button>
    </th>
  );
}

interface SortTitleProps {
  readonly column: Column;
  readonly now: string;
  readonly sortBy: (sort: string) => void;
}

function Titles({ rows, chosen, choose, sort, sortBy }: FleetTableProps) {
  const isAll = rows.every(({ name }) => chosen.has(name));
  return (
    <thead>
      <tr>
        {choose === undefined ? null : (
          <th scope="col" class="choose">
            <input
              type="checkbox"
              aria-label={texts.selectAll}
              checked={isAll}
              onChange={() => choose(isAll ? new Set() : new Set(rows.map(({ name }) => name)))}
            />
          </th>
        )}
        {COLUMNS.map((column) => (
          <SortTitle key={column.title} column={column} now={sort} sortBy={sortBy} />
        ))}
      </tr>
    </thead>
  );
}

interface RowProps {
  readonly row: FleetRow;
  readonly number: number;
  readonly isChosen: boolean;
  readonly toggle: (() => void) | undefined;
}

function Row({ row, number, isChosen, toggle }: RowProps) {
  const total = Object.values(row.tasks).reduce((sum, count) => sum + count, 0);
  const running = row.tasks['RUNNING'] ?? 0;
  const age = durationText(Date.now() - skewMs.value - Date.parse(row.since));
  return (
    <tr aria-rowindex={number} class={isChosen ? 'chosen' : undefined}>
      {toggle === undefined ? null : (
        <td class="choose">
          <input type="checkbox" aria-label={texts.select(row.name)} checked={isChosen} onChange={toggle} />
        </td>
      )}
      <th scope="row" class="name">
        <a href={connectorAddress(row.name)}>{row.name}</a>{' '}
        <small title={`${row.className}: ${flowText(row)}`}>{flowText(row)}</small>
      </th>
      <td class="verdict">
        <VerdictBadge verdict={row.verdict} />
      </td>
      <td class="since" title={`${dateTime(row.since)} ${zoneText(new Date(row.since))}`}>
        {age}
      </td>
      <td class="why" title={row.sentence}>
        <span>{causeFirst(row.sentence)}</span>
      </td>
      <td class={running === total || row.verdict === 'PAUSED' ? 'number tasks' : 'number tasks short-of'}>
        {running}/{total}
      </td>
      <td class="number">{rateText(row.rate)}</td>
      <td class="wide chart" title={texts.lastMinutes(row.spark.length)}>
        <Sparkline values={row.spark} />
      </td>
      <td class="number">{short(row.lag)}</td>
      <td class="number wide">{short(row.deadLettersPerMinute)}</td>
      <td class="phone">{texts.phoneFigures(age, rateText(row.rate), short(row.lag))}</td>
    </tr>
  );
}

/**
 * `sink orders → public.orders`, `source meters → plant-meters`. A class name that does not begin with `Db` replaces
 * the type.
 */
function flowText({ type, className, topics, tables }: FleetRow): string {
  const name = shortClass(className);
  const [from, to] = type === 'sink' ? [topics, tables] : [tables, topics];
  return `${name.startsWith('Db') ? type : name} ${from}${to === '' ? '' : ` → ${to}`}`;
}

/** The height of a row in pixels; must match the style sheet. */
function rowHeight(): number {
  return matchMedia('(max-width: 700px)').matches ? 64 : 36;
}
