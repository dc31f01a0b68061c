import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { FleetRow } from '../common/answers.ts';
import { BulkActions } from './bulk-actions.tsx';
import { DeletedFold } from '../common/deleted-fold.tsx';
import { matching, type Filters } from '../common/fleet-row.ts';
import { short, shortClass } from '../common/format.ts';
import { VERDICTS } from '../common/verdict.ts';
import { rows, updatedAt, worker } from '../common/fleet-store.ts';
import { connectorAddress, CREATE_ADDRESS, fleetAddress, replaceFilters } from '../common/route.ts';
import { saveCsv } from '../common/save-csv.ts';
import { Sparkline } from '../common/sparkline.tsx';
import { texts } from '../texts/fleet.ts';
import { fleetCsv } from './fleet-csv.ts';
import './fleet.css';
import { VerdictBadge } from '../common/verdict-badge.tsx';

const NO_FILTERS: Filters = { text: '', verdict: '', type: '', className: '', worker: '', topic: '' };
/** The key of the list of deleted connectors, which stays open when one is restored into an empty list. */
const DELETED = 'deleted';
/** Rows beyond what is seen, above and below. */
const MARGIN = 8;

/** All connectors, the broken first. */
export function FleetView({ filters }: { readonly filters: Filters }) {
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const shown = matching(rows.value, filters);
  const names = useComputed(() => {
    const known = new Set(rows.value.map(({ name }) => name));
    return [...chosen.value].filter((name) => known.has(name));
  });
  const change = (part: Partial<Filters>): void => {
    replaceFilters({ ...filters, ...part });
  };
  const isReadOnly = worker.value?.readOnly !== false;
  if (updatedAt.value === undefined) return <p class="empty">{texts.loading}</p>;
  if (rows.value.length === 0) {
    return (
      <>
        <div class="empty">
          <p>{texts.noneYet}</p>
          <p>{isReadOnly ? texts.noneYetNext : <a href={CREATE_ADDRESS}>{texts.create}</a>}</p>
        </div>
        <DeletedFold key={DELETED} />
      </>
    );
  }
  return (
    <>
      <h1 class="visually-hidden">{texts.connectors}</h1>
      <VerdictFilter filters={filters} />
      <FilterBar filters={filters} change={change} shown={shown} />
      {isReadOnly ? null : <BulkActions names={names.value} />}
      {shown.length === 0 ? (
        <div class="empty">
          <p>{texts.noneFound}</p>
          <p>
            <a href={fleetAddress()}>{texts.clear}</a>
          </p>
        </div>
      ) : (
        <FleetTable
          rows={shown}
          chosen={chosen.value}
          choose={isReadOnly ? undefined : (next) => (chosen.value = next)}
        />
      )}
      <DeletedFold key={DELETED} />
    </>
  );
}

/** How many connectors have each verdict; a click shows them alone. */
function VerdictFilter({ filters }: { readonly filters: Filters }) {
  const counts = new Map<string, number>();
  for (const { verdict } of rows.value) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  return (
    <nav class="verdicts" aria-label={texts.verdict}>
      {VERDICTS.filter((verdict) => counts.has(verdict)).map((verdict) => {
        const isOn = filters.verdict === verdict;
        return (
          <a
            key={verdict}
            class={isOn ? 'on' : ''}
            aria-current={isOn ? 'true' : undefined}
            href={fleetAddress({ ...filters, verdict: isOn ? '' : verdict })}
          >
            <VerdictBadge verdict={verdict} /> {short(counts.get(verdict) ?? 0)}
          </a>
        );
      })}
    </nav>
  );
}

interface FilterBarProps {
  readonly filters: Filters;
  readonly shown: readonly FleetRow[];
  readonly change: (part: Partial<Filters>) => void;
}

function FilterBar({ filters, change, shown }: FilterBarProps) {
  const classes = [...new Set(rows.value.map(({ className }) => className))].sort();
  const workers = [...new Set(rows.value.flatMap((row) => row.workers))].sort();
  const isFiltered = Object.values(filters).some((value) => value !== '');
  return (
    <form
      class="filters"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
      }}
    >
      <label>
        {texts.search}
        <input
          type="search"
          value={filters.text}
          placeholder={texts.searchHint}
          onInput={({ currentTarget }) => {
            change({ text: currentTarget.value });
          }}
        />
      </label>
      <label>
        {texts.topic}
        <input
          type="search"
          value={filters.topic}
          onInput={({ currentTarget }) => {
            change({ topic: currentTarget.value });
          }}
        />
      </label>
      <Choice label={texts.type} value={filters.type} of={['sink', 'source']} change={(type) => change({ type })} />
      <Choice
        label={texts.class}
        value={filters.className}
        of={classes}
        name={shortClass}
        change={(className) => change({ className })}
      />
      <Choice label={texts.worker} value={filters.worker} of={workers} change={(each) => change({ worker: each })} />
      {isFiltered ? (
        <button type="button" onClick={() => change(NO_FILTERS)}>
          {texts.clear}
        </button>
      ) : null}
      {shown.length === 0 ? null : (
        <button
          type="button"
          onClick={() => {
            saveCsv('connectors.csv', fleetCsv(shown));
          }}
        >
          {texts.csv(shown.length)}
        </button>
      )}
    </form>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly of: readonly string[];
  readonly name?: (value: string) => string;
  readonly change: (value: string) => void;
}

function Choice({ label, value, of, name = (text) => text, change }: ChoiceProps) {
  return (
    <label>
      {label}
      <select
        value={value}
        onChange={({ currentTarget }) => {
          change(currentTarget.value);
        }}
      >
        <option value="">{texts.any}</option>
        {of.map((each) => (
          <option key={each} value={each}>
            {name(each)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface FleetTableProps {
  readonly rows: readonly FleetRow[];
  readonly chosen: ReadonlySet<string>;
  readonly choose: ((names: ReadonlySet<string>) => void) | undefined;
}

/** Only rows that can be seen are in the document; all have the same height. */
function FleetTable({ rows: all, chosen, choose }: FleetTableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const range = useSignal<readonly [number, number]>([0, 40]);
  const isAll = all.every(({ name }) => chosen.has(name));
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
  }, [all.length]);
  const [first, last] = range.value;
  const height = rowHeight();
  const above = Math.min(first, all.length);
  const below = Math.max(0, all.length - last);
  return (
    <table class="fleet" aria-rowcount={all.length + 1}>
      <thead>
        <tr>
          {choose === undefined ? null : (
            <th scope="col" class="choose">
              <input
                type="checkbox"
                aria-label={texts.selectAll}
                checked={isAll}
                onChange={() => choose(isAll ? new Set() : new Set(all.map(({ name }) => name)))}
              />
            </th>
          )}
          <th scope="col" class="name">
            {texts.connector}
          </th>
          <th scope="col" class="verdict">
            {texts.verdict}
          </th>
          <th scope="col" class="why">
            {texts.why}
          </th>
          <th scope="col" class="number">
            {texts.tasks}
          </th>
          <th scope="col" class="number">
            {texts.rate}
          </th>
          <th scope="col" class="wide chart">
            {texts.lastHour}
          </th>
          <th scope="col" class="number">
            {texts.lag}
          </th>
          <th scope="col" class="number wide">
            {texts.letters}
          </th>
        </tr>
      </thead>
      <tbody ref={body}>
        {above > 0 ? <tr aria-hidden="true" style={{ height: `${String(above * height)}px` }} /> : null}
        {all.slice(first, last).map((row, index) => (
          <Row
            key={row.name}
            row={row}
            number={first + index + 2}
            isChosen={chosen.has(row.name)}
            toggle={
              choose &&
              (() => {
                const next = new Set(chosen);
                if (!next.delete(row.name)) next.add(row.name);
                choose(next);
              })
            }
          />
        ))}
        {below > 0 ? <tr aria-hidden="true" style={{ height: `${String(below * height)}px` }} /> : null}
      </tbody>
    </table>
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

/** In pixels, as in the style sheet. */
function rowHeight(): number {
  return matchMedia('(max-width: 700px)').matches ? 92 : 48;
}
