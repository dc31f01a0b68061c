const WIDTH = 96;
const HEIGHT = 22;

/** A line through the averages of each minute of the last hour. The line has a gap where a value is `null`. */
export function Sparkline({ values }: { readonly values: readonly (number | null)[] }) {
  const max = Math.max(1e-9, ...values.map((value) => value ?? 0));
  const step = WIDTH / Math.max(1, values.length - 1);
  let isOpen = false;
  const path = values
    .map((value, index) => {
      if (value === null) {
        isOpen = false;
        return '';
      }
      const point = `${isOpen ? 'L' : 'M'}${(index * step).toFixed(1)} ${(HEIGHT - 2 - (value / max) * (HEIGHT - 4)).toFixed(1)}`;
      isOpen = true;
      return point;
    })
    .join('');
  return (
    <svg
      class="spark"
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
      aria-hidden="true"
    >
      <path d={path} />
    </svg>
  );
}
