// Draws the charts of a report's page with Chart.js, and sorts its tables. Each <figure class="chart"> has its data as JSON.
'use strict';

const SCALES = {
  time: [[1e12, 's'], [1e9, 'ms'], [1e6, 'µs'], [1e3, 'ns'], [1, 'ps']],
  bytes: [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']],
  count: [[1, '']],
};

/** The unit that makes the largest value at least 1. */
function unitOf(scale, largest) {
  const units = SCALES[scale];
  const [size, name] = units.find(([size]) => Math.abs(largest) >= size) ?? units[units.length - 1];
  return {size, name};
}

/** "13.5 ms" for 13.5e9 picoseconds. */
function amount(value, scale) {
  const {size, name} = unitOf(scale, value);
  return `${Number((value / size).toPrecision(4))} ${name}`.trim();
}

const colour = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** An axis from 0 to `most`, or to the tick after it where `beyond` says so. Its values are in the unit. */
function axis(title, {name}, scale, most, beyond) {
  const least = (most || 1) / 7;
  const power = 10 ** Math.floor(Math.log10(least));
  const round = [1, 2, 5, 10].find(each => each * power >= least) * power;
  const stepSize = scale === 'count' ? Math.max(1, Math.round(round)) : round;
  return {
    type: 'linear', min: 0, max: beyond ? Math.floor(most / stepSize + 1) * stepSize : most || 1,
    title: {display: true, text: name ? `${title} (${name})` : title, color: colour('dim')},
    ticks: {color: colour('dim'), maxRotation: 0, stepSize, includeBounds: false, callback: value => Number(value.toPrecision(6)).toLocaleString('en')},
    grid: {color: colour('line')},
  };
}

// {of, groups: [{name, colour, shape, radius, points: [{id, y, time, devices, peak}]}]}; `by` is "devices" or "peak".
function front(data, by) {
  const scale = by === 'devices' ? 'count' : 'bytes';
  const all = data.groups.flatMap(group => group.points);
  const mostX = Math.max(...all.map(point => point[by]));
  const mostY = Math.max(...all.map(point => point.y));
  const x = unitOf(scale, mostX);
  const y = unitOf(data.scale, mostY);
  return {
    type: 'scatter',
    data: {
      datasets: data.groups.map(group => ({
        label: group.name, backgroundColor: colour(group.colour), borderColor: colour(group.colour),
        pointStyle: group.shape, pointRadius: group.radius, pointHoverRadius: group.radius + 3,
        data: group.points.map(point => ({x: point[by] / x.size, y: point.y / y.size, point})),
      })),
    },
    options: {
      scales: {
        x: axis(by === 'devices' ? 'devices' : 'peak memory of a device', x, scale, mostX / x.size, true),
        y: axis(data.of, y, data.scale, mostY / y.size, true),
      },
      plugins: {
        tooltip: {callbacks: {label: ({raw: {point}}) => [
          point.id, `${amount(point.time, 'time')}, ${point.devices} devices, ${amount(point.peak, 'bytes')}`]}},
      },
    },
  };
}

// {rows: [name], names: [name], end, bars: [[row, kind, begin, end, name, count]]}: times in picoseconds.
function timeline(data) {
  // The first three are the parts of the answer's time, on compute streams; the others are on communication streams.
  const kinds = [['compute', 'compute'], ['launch', 'launch'], ['wait', 'exposed communication'], ['collective', 'collective'],
    ['entry', 'launch of a collective']];
  const x = unitOf('time', data.end);
  // Rows are found by their labels, which spaces of no width keep apart. A phone has room for their ends.
  const most = innerWidth < 700 ? 20 : 60;
  const short = row => row.length > most ? `… ${row.slice(2 - most)}` : row;
  const rows = data.rows.map((row, r) => short(row) + '\u200b'.repeat(r));
  return {
    type: 'bar',
    height: 90 + 34 * rows.length,
    data: {
      labels: rows,
      datasets: kinds.map(([kind, label], k) => ({
        label, backgroundColor: colour(kind), grouped: false, barPercentage: 0.9, categoryPercentage: 0.9,
        data: data.bars.filter(bar => bar[1] === k)
          .map(([row, , begin, end, name, count]) => ({y: rows[row], x: [begin / x.size, end / x.size], row, begin, end, name, count})),
      })),
    },
    options: {
      indexAxis: 'y',
      parsing: {xAxisKey: 'x', yAxisKey: 'y'},
      interaction: {mode: 'nearest', axis: 'xy', intersect: true},
      scales: {
        x: axis('time', x, 'time', data.end / x.size, false),
        y: {ticks: {color: colour('ink'), autoSkip: false}, grid: {display: false}},
      },
      plugins: {
        tooltip: {callbacks: {
          title: () => '',
          label: ({raw: {row, begin, end, name, count}}) => [
            data.rows[row],
            data.names[name] + (count > 1 ? ` and ${count - 1} more` : ''),
            `${amount(begin, 'time')} to ${amount(end, 'time')}: ${amount(end - begin, 'time')}`],
        }},
      },
    },
  };
}

// {end, capacity, allowed, lines: [{name, at: [picoseconds], bytes: [bytes]}]}: steps. The nearest limit is the top of the
// chart, unless the lines would be flat below it. Limits above the top are only named.
function memory(data) {
  const colours = ['compute', 'collective', 'launch', 'good', 'open', 'dim'];
  const most = Math.max(1, ...data.lines.flatMap(line => line.bytes));
  const limits = [['capacity', data.capacity, [6, 4]], ['allowed', data.allowed, [2, 3]]].filter(([, bytes]) => bytes);
  const nearest = Math.min(...limits.map(([, bytes]) => bytes).filter(bytes => bytes >= most));
  const largest = nearest <= 5 * most ? nearest : most;
  const whole = data.end || 1;
  const x = unitOf('time', whole);
  const y = unitOf('bytes', largest);
  const line = (label, name, points, more) => ({
    label, borderColor: colour(name), backgroundColor: colour(name), borderWidth: 1.5, pointRadius: 0, pointHitRadius: 6,
    data: points.map(([at, bytes]) => ({x: at / x.size, y: bytes / y.size, at, bytes})), ...more,
  });
  const lines = data.lines.map(({name, at, bytes}, l) => line(
    name, colours[l % colours.length], [...at.map((each, i) => [each, bytes[i]]), [whole, bytes[bytes.length - 1]]], {stepped: true}));
  for (const [name, bytes, borderDash] of limits)
    lines.push(line(
      `${name}, ${amount(bytes, 'bytes')}${bytes > largest ? ', above' : ''}`, 'bad',
      bytes > largest ? [] : [[0, bytes], [whole, bytes]], {borderDash}));
  return {
    type: 'line',
    data: {datasets: lines},
    options: {
      scales: {x: axis('time', x, 'time', whole / x.size, false), y: axis('live bytes', y, 'bytes', largest / y.size, true)},
      plugins: {tooltip: {callbacks: {
        title: () => '',
        label: ({dataset, raw}) => `${dataset.label}: ${amount(raw.bytes, 'bytes')} at ${amount(raw.at, 'time')}`,
      }}},
    },
  };
}

const KINDS = {front, timeline, memory};
const drawn = [];

function draw(figure, choice) {
  const data = JSON.parse(figure.querySelector('script').textContent);
  const {height, type, data: sets, options} = KINDS[figure.dataset.kind](data, choice);
  const canvas = figure.querySelector('canvas');
  if (height)
    canvas.parentElement.style.height = `${height}px`;
  Chart.getChart(canvas)?.destroy();
  const plugins = {legend: {labels: {color: colour('ink'), boxWidth: 12}}, ...options.plugins};
  new Chart(canvas, {type, data: sets, options: {...options, plugins, animation: false, responsive: true, maintainAspectRatio: false}});
}

for (const figure of document.querySelectorAll('figure.chart')) {
  let choice;
  if (figure.dataset.kind === 'front')
    choice = 'devices';
  if (choice && JSON.parse(figure.querySelector('script').textContent).scale === 'time') {
    const label = document.createElement('label');
    label.append('time against ');
    const select = document.createElement('select');
    select.append(new Option('devices', 'devices'), new Option('memory', 'peak'));
    select.addEventListener('change', () => {
      choice = select.value;
      draw(figure, choice);
    });
    label.append(select);
    figure.prepend(label);
  }
  drawn.push(() => draw(figure, choice));
}

const redraw = () => drawn.forEach(each => each());
redraw();
// The colours of a chart are those of its moment: they change with the theme, and for print.
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
matchMedia('print').addEventListener('change', redraw);

/** The number that a cell begins with, in its base unit; its text if it has none. */
function sortKey(text) {
  const found = /^-?[\d,]*\.?\d+(?:e[+-]?\d+)?/.exec(text);
  if (!found)
    return text;
  const unit = text.slice(found[0].length).trim().split(/[\s,]/)[0].replace('us', 'µs');
  const size = [...SCALES.time, ...SCALES.bytes].find(([, name]) => name === unit);
  return Number(found[0].replaceAll(',', '')) * (size ? size[0] : 1);
}

function compare(a, b) {
  if (typeof a === 'number' && typeof b === 'number')
    return a - b;
  return typeof a === typeof b ? a.localeCompare(b, undefined, {numeric: true}) : typeof a === 'number' ? -1 : 1;
}

for (const table of document.querySelectorAll('table.sortable')) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (head.textContent === '')
      return;
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') === 'ascending';
      heads.forEach(each => each.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const rows = [...table.tBodies[0].rows].map(row => ({row, key: sortKey(row.cells[column].textContent)}));
      rows.sort((a, b) => (down ? -1 : 1) * compare(a.key, b.key));
      table.tBodies[0].append(...rows.map(each => each.row));
    });
  });
}
