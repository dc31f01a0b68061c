import { useRef } from 'preact/hooks';
import { texts } from '../texts/letters.ts';
import { ANY_RANGE, FILTERS, MAX_RANGES, type RangeForm, type SelectionForm } from './letter-selection.ts';

interface SelectionFieldsProps {
  readonly form: SelectionForm;
  readonly onChange: (form: SelectionForm) => void;
}

/** What narrows a selection down, and other transforms; folded, as most replays need neither. */
export function SelectionFields({ form, onChange }: SelectionFieldsProps) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const input = (key: Exclude<keyof SelectionForm, 'ranges'>) => ({
    value: form[key],
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
      onChange({ ...form, [key]: currentTarget.value });
    },
  });
  const timeField = (key: 'since' | 'until', label: string) => (
    <label>
      {label}
      <input type="datetime-local" step="1" {...input(key)} />
    </label>
  );
  return (
    <>
      <details>
        <summary>{texts.narrow}</summary>
        <Ranges
          ranges={form.ranges}
          onChange={(ranges) => {
            onChange({ ...form, ranges });
          }}
        />
        <div class="row">
          {timeField('since', texts.since(zone))}
          {timeField('until', texts.until(zone))}
        </div>
        <div class="row">
          {FILTERS.map((key) => (
            <label key={key}>
              {texts.filters[key]}
              <input type="text" size={16} {...input(key)} />
            </label>
          ))}
        </div>
      </details>
      <details class="wide-field">
        <summary>{texts.chain}</summary>
        <p>{texts.chainHint}</p>
        <textarea
          aria-label={texts.chain}
          spellcheck={false}
          value={form.transforms}
          onInput={({ currentTarget }) => {
            onChange({ ...form, transforms: currentTarget.value });
          }}
        />
      </details>
    </>
  );
}

interface RangesProps {
  readonly ranges: readonly RangeForm[];
  readonly onChange: (ranges: readonly RangeForm[]) => void;
}

/** Partitions with their offsets; the first has no button that takes it away. */
function Ranges({ ranges, onChange }: RangesProps) {
  const add = useRef<HTMLButtonElement>(null);
  return (
    <>
      {ranges.map((range, index) => (
        <div key={index} class="row" role="group" aria-label={texts.range(index + 1)}>
          {(['partition', 'from', 'to'] as const).map((key) => (
            <label key={key}>
              {texts.rangeFields[key]}
              <input
                type="text"
                inputMode="numeric"
                size={12}
                value={range[key]}
                onInput={({ currentTarget }) => {
                  onChange(ranges.with(index, { ...range, [key]: currentTarget.value }));
                }}
              />
            </label>
          ))}
          {index === 0 ? null : (
            <button
              type="button"
              onClick={() => {
                add.current?.focus();
                onChange(ranges.filter((_, other) => other !== index));
              }}
            >
              {texts.removeRange}
            </button>
          )}
        </div>
      ))}
      <button
        ref={add}
        type="button"
        class="add-range"
        disabled={ranges.length >= MAX_RANGES}
        onClick={() => {
          onChange([...ranges, ANY_RANGE]);
        }}
      >
        {texts.addRange}
      </button>
    </>
  );
}
