import { useRef } from 'preact/hooks';
import { Button } from '../kit/button.tsx';
import { TextField } from '../kit/field.tsx';
import { texts } from '../texts/dead-letters.ts';
import { ANY_RANGE, FILTERS, MAX_RANGES, type RangeForm, type SelectionForm } from './selection-form.ts';

interface SelectionFieldsProps {
  readonly form: SelectionForm;
  readonly onChange: (form: SelectionForm) => void;
}

/** Fields for filters and for other transforms. They are folded, because most replays need neither. */
export function SelectionFields({ form, onChange }: SelectionFieldsProps) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const field = (key: Exclude<keyof SelectionForm, 'ranges'>) => ({
    value: form[key],
    onInput: (value: string) => onChange({ ...form, [key]: value }),
  });
  return (
    <>
      <details>
        <summary>{texts.narrow}</summary>
        <Ranges ranges={form.ranges} onChange={(ranges) => onChange({ ...form, ranges })} />
        <div class="row">
          <TextField label={texts.since(zone)} type="datetime-local" {...field('since')} />
          <TextField label={texts.until(zone)} type="datetime-local" {...field('until')} />
        </div>
        <div class="row">
          {FILTERS.map((key) => (
            <TextField key={key} label={texts.filters[key]} size={16} {...field(key)} />
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
          onInput={({ currentTarget }) => onChange({ ...form, transforms: currentTarget.value })}
        />
      </details>
    </>
  );
}

interface RangesProps {
  readonly ranges: readonly RangeForm[];
  readonly onChange: (ranges: readonly RangeForm[]) => void;
}

/** Fields for ranges of offsets in partitions. The first range cannot be removed. */
function Ranges({ ranges, onChange }: RangesProps) {
  const add = useRef<HTMLButtonElement>(null);
  const remove = (index: number): void => {
    add.current?.focus();
    onChange(ranges.filter((_, other) => other !== index));
  };
  return (
    <>
      {ranges.map((range, index) => (
        <div key={index} class="row" role="group" aria-label={texts.range(index + 1)}>
          {(['partition', 'from', 'to'] as const).map((key) => (
            <TextField
              key={key}
              label={texts.rangeFields[key]}
              inputMode="numeric"
              size={12}
              value={range[key]}
              onInput={(value) => onChange(ranges.with(index, { ...range, [key]: value }))}
            />
          ))}
          {index === 0 ? null : <Button onClick={() => remove(index)}>{texts.removeRange}</Button>}
        </div>
      ))}
      <Button
        buttonRef={add}
        class="add-range"
        disabled={ranges.length >= MAX_RANGES}
        onClick={() => onChange([...ranges, ANY_RANGE])}
      >
        {texts.addRange}
      </Button>
    </>
  );
}
