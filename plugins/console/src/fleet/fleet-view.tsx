import { useComputed, useSignal } from '@preact/signals';
import type { FleetRow } from '../common/answers.ts';
import { BulkActions } from './bulk-actions.tsx';
import { DeletedFold } from '../common/deleted-fold.tsx';
import { matching, type Filters } from '../common/fleet-row.ts';
import { short, shortClass } from '../common/format.ts';
import { VERDICTS } from '../common/verdict.ts';
import { isWritable, rows, updatedAt } from '../common/fleet-store.ts';
import { CREATE_ADDRESS, fleetAddress, replaceFilters } from '../common/route.ts';
import { saveCsv } from '../common/save-csv.ts';
import { Button } from '../kit/button.tsx';
import { SelectField, TextField } from '../kit/field.tsx';
import { Form } from '../kit/form.tsx';
import { texts } from '../texts/fleet.ts';
import { fleetCsv } from './fleet-csv.ts';
import { FleetTable } from './fleet-table.tsx';
import './fleet.css';
import { VerdictBadge } from '../common/verdict-badge.tsx';

const NO_FILTERS: Filters = { text: '', verdict: '', type: '', className: '', worker: '', topic: '' };
/** The key of the list of deleted connectors, which stays open when one is restored into an empty list. */
const DELETED = 'deleted';

/** All connectors, those with the worst verdict first. */
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
      <VerdictFilter filters={filters} />
      <FilterBar filters={filters} change={change} shown={shown} />
      {isWritable.value ? <BulkActions names={names.value} /> : null}
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
        />
      )}
      <DeletedFold key={DELETED} />
    </>
  );
}

/** The number of connectors by verdict; a click shows only these. */
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
  const field = (name: keyof Filters) => ({
    value: filters[name],
    onInput: (value: string) => change({ [name]: value }),
  });
  const choice = (name: keyof Filters, options: readonly string[]) => ({
    value: filters[name],
    none: texts.any,
    options,
    onChange: (value: string) => change({ [name]: value }),
  });
  return (
    <Form class="filters" role="search">
      <TextField label={texts.search} type="search" placeholder={texts.searchHint} {...field('text')} />
      <TextField label={texts.topic} type="search" {...field('topic')} />
      <SelectField label={texts.type} {...choice('type', ['sink', 'source'])} />
      <SelectField label={texts.class} text={shortClass} {...choice('className', classes)} />
      <SelectField label={texts.worker} {...choice('worker', workers)} />
      {isFiltered ? <Button onClick={() => change(NO_FILTERS)}>{texts.clear}</Button> : null}
      {shown.length === 0 ? null : (
        <Button onClick={() => saveCsv('connectors.csv', fleetCsv(shown))}>{texts.csv(shown.length)}</Button>
      )}
    </Form>
  );
}
