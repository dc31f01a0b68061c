import { useComputed, useSignal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { FleetRow } from '../common/answers.ts';
import { DeletedFold } from '../common/deleted-fold.tsx';
import { fleetSummary, matching, sorted, type Filters } from '../common/fleet-row.ts';
import { short, shortClass } from '../common/format.ts';
import { VERDICTS } from '../common/verdict.ts';
import { isWritable, rows, updatedAt } from '../common/fleet-store.ts';
import { CREATE_ADDRESS, fleetAddress } from '../common/addresses.ts';
import { lazy } from '../common/lazy.tsx';
import { replaceFilters } from '../common/route.ts';
import { shortTime } from '../common/time.ts';
import { Button } from '../kit/button.tsx';
import { SelectField, TextField } from '../kit/field.tsx';
import { Form } from '../kit/form.tsx';
import { texts } from '../texts/fleet.ts';
import { FleetTable } from './fleet-table.tsx';
import './fleet.css';
import { VerdictBadge } from '../common/verdict-badge.tsx';

/** This code is loaded when a connector is selected. */
const BulkActions = lazy(() => import('./bulk-actions.tsx').then((module) => module.BulkActions));

const NO_FILTERS: Filters = { text: '', verdict: '', type: '', className: '', worker: '', sort: '' };
/** Component key of the list of deleted connectors. It keeps this list open when restoring a connector changes the layout of the view. */
const DELETED = 'deleted';

/** Lists the connectors that match the filters. Unless the user sorts them, the worst verdict comes first. */
export function FleetView({ filters }: { readonly filters: Filters }) {
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const [report, setReport] = useState<readonly string[]>([]);
  const shown = sorted(matching(rows.value, filters), filters.sort);
  const names = useComputed(() => {
    const known = new Set(rows.value.map(({ name }) => name));
    return [...chosen.value].filter((name) => known.has(name));
  });
  const change = (part: Partial<Filters>): void => {
    replaceFilters({ ...filters, ...part });
  };
  if (updatedAt.value === undefined) return <p class="empty">{texts.loading}</p>;
  if (rows.value.length === 0) {
    return (
      <>
        <div class="empty">
          <p>{texts.noneYet}</p>
          <p>{isWritable.value ? <a href={CREATE_ADDRESS}>{texts.create}</a> : texts.noneYetNext}</p>
        </div>
        <DeletedFold key={DELETED} />
      </>
    );
  }
  return (
    <>
      <h1 class="visually-hidden">{texts.connectors}</h1>
      <div class="fleet-head">
        {isWritable.value && names.value.length > 0 ? (
          <BulkActions names={names.value} report={setReport} />
        ) : (
          <Summary />
        )}
        <VerdictFilter filters={filters} />
      </div>
      <div role="status" class="report">
        {report.map((line) => (
          <p key={line}>{line}</p>
        ))}
      </div>
      <FilterBar filters={filters} change={change} shown={shown} />
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
          choose={isWritable.value ? (next) => (chosen.value = next) : undefined}
          sort={filters.sort}
          sortBy={(sort) => change({ sort })}
        />
      )}
      <DeletedFold key={DELETED} />
    </>
  );
}

/** Shows how many connectors need attention, when the latest of them got its verdict, and the total lag. */
function Summary() {
  const { all, bad, lastSince, lag } = fleetSummary(rows.value);
  return (
    <p class="summary">
      <strong>{bad === 0 ? texts.allWell(all) : texts.needYou(bad, all)}</strong>{' '}
      {lastSince === undefined ? '' : texts.lastSince(shortTime(lastSince))}{' '}
      {lag === 0 ? '' : texts.recordsWait(short(lag))}
    </p>
  );
}

/** Shows the number of connectors by verdict. A click on a verdict shows only its connectors. */
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

/** Saves the rows as CSV. The code for this is loaded on first use. */
async function saveRows(shown: readonly FleetRow[]): Promise<void> {
  const [{ fleetCsv }, { saveCsv }] = await Promise.all([import('./fleet-csv.ts'), import('../common/save-file.ts')]);
  saveCsv('connectors.csv', fleetCsv(shown));
}

interface FilterBarProps {
  readonly filters: Filters;
  readonly shown: readonly FleetRow[];
  readonly change: (part: Partial<Filters>) => void;
}

function FilterBar({ filters, change, shown }: FilterBarProps) {
  const [isOpen, setOpen] = useState(false);
  const classes = [...new Set(rows.value.map(({ className }) => className))].sort();
  const workers = [...new Set(rows.value.flatMap((row) => row.workers))].sort();
  const { sort, ...restricting } = filters;
  const isFiltered = Object.values(restricting).some((value) => value !== '');
  const choice = (name: 'type' | 'className' | 'worker', options: readonly string[]) => ({
    value: filters[name],
    none: texts.any,
    options,
    onChange: (value: string) => change({ [name]: value }),
  });
  return (
    <Form class={isOpen ? 'filters fleet-filters open' : 'filters fleet-filters'} role="search">
      <TextField
        label={texts.search}
        type="search"
        placeholder={texts.searchHint}
        value={filters.text}
        onInput={(text) => change({ text })}
      />
      <Button class="more-filters" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {texts.filters}
      </Button>
      <SelectField label={texts.type} {...choice('type', ['sink', 'source'])} />
      <SelectField label={texts.class} text={shortClass} {...choice('className', classes)} />
      <SelectField label={texts.worker} {...choice('worker', workers)} />
      {isFiltered ? <Button onClick={() => change({ ...NO_FILTERS, sort })}>{texts.clear}</Button> : null}
      {shown.length === 0 ? null : (
        <Button class="save-csv" onClick={() => saveRows(shown)}>
          {texts.csv(shown.length)}
        </Button>
      )}
    </Form>
  );
}
