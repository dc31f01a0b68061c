import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { FleetRow } from '../common/answers.ts';
import { short, shortClass } from '../common/format.ts';
import { connectorAddress } from '../common/route.ts';
import { Sparkline } from '../common/sparkline.tsx';
import { VerdictBadge } from '../common/verdict-badge.tsx';
import { texts } from '../texts/fleet.ts';

/** Rows beyond what is seen, above and below. */
const MARGIN = 8;

interface FleetTableProps {
  readonly rows: readonly FleetRow[];
  readonly chosen: ReadonlySet<string>;
  readonly choose: ((names: ReadonlySet<string>) => void) | undefined;
}

/** Only rows that can be seen are in the document; all have the same height. */
export function FleetTable({ rows: all, chosen, choose }: FleetTableProps) {
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
      <Titles rows={all} chosen={chosen} choose={choose} />
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

/** The first row that is seen, and the one after the last. */
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

/** Replaces the rows that are not in the document. */
function Gap({ rows }: { readonly rows: number }) {
  return rows > 0 ? <tr aria-hidden="true" style={{ height: `${String(rows * rowHeight())}px` }} /> : null;
}

const COLUMNS = [
  { title: texts.connector, class: 'name' },
  { title: texts.verdict, class: 'verdict' },
  { title: texts.why, class: 'why' },
  { title: texts.tasks, class: 'number' },
  { title: texts.rate, class: 'number' },
  { title: texts.lastHour, class: 'wide chart' },
  { title: texts.lag, class: 'number' },
  { title: texts.letters, class: 'number wide' },
];

function Titles({ rows, chosen, choose }: FleetTableProps) {
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
          <th scope="col" key={column.title} class={column.class}>
            {column.title}
          </th>
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
  return (
    <tr aria-rowindex={number}>
      {toggle === undefined ? null : (
        <td class="choose">
          <input type="checkbox" aria-label={texts.select(row.name)} checked={isChosen} onChange={toggle} />
        </td>
      )}
      <th scope="row" class="name">
        <a href={connectorAddress(row.name)}>{row.name}</a>
        <small>{shortClass(row.className)}</small>
      </th>
      <td class="verdict">
        <VerdictBadge verdict={row.verdict} />
      </td>
      <td class="why" title={row.sentence}>
        <span>{row.sentence}</span>
      </td>
      <td class="number">{running === total ? total : `${String(running)}/${String(total)}`}</td>
      <td class="number">{short(row.rate)}</td>
      <td class="wide chart">
        <Sparkline values={row.spark} />
      </td>
      <td class="number">{short(row.lag)}</td>
      <td class="number wide">{short(row.deadLettersPerMinute)}</td>
    </tr>
  );
}

/** The height of a row in pixels, as in the style sheet. */
function rowHeight(): number {
  return matchMedia('(max-width: 700px)').matches ? 92 : 48;
}
