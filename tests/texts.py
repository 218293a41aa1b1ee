"""Made-up text for tests: plain sentences, code, and every kind of character that has broken a neuron viewer."""

PROSE = (
    "The river rose in the night, and by morning the lower road was gone.",
    "She counted the coins twice, then put them back in the tin box.",
    "It was not the cold that kept us awake but the sound of the wind.",
    "Bread was baked on Mondays; on other days we ate what was left of it.",
    "The harbour lies on the north side of the island and freezes in January.",
    "He was born in 1841 in a village of forty houses, and died there in 1902.",
    "A bridge of seven arches crosses the valley near the old mill.",
    "When the bell rang a second time, nobody moved.",
    "The species is found in wet meadows at heights of up to 2,300 metres.",
    "“You may keep the horse,” said the judge, “but the cart is mine.”",
    "My lord, the messenger has come from France and will not speak to me.",
    "Take three eggs, a cup of sugar and the peel of one lemon; beat them well.",
    "And the king sent to the elders of the city, and they answered him not.",
    "In the census of 1911 the town had 4,208 inhabitants, of whom half were weavers.",
    "The first railway reached the coast in 1869, and the mail coach stopped that year.",
    "We saw the island from the mast, a grey line that did not move.",
    "Its leaves are long, narrow and slightly hairy on the lower side.",
    "Nothing is so tiring as waiting for a letter that has been promised.",
    "The council met on Tuesday and decided, by nine votes to four, to do nothing.",
    "Tie the ends with a thin string and leave the bundle in the sun for two days.",
    "There were two doors, and behind each of them somebody was laughing.",
    "The lake is fed by melting snow and has no outlet to the sea.",
    "Old men remember the flood; young men remember what old men told them.",
    "He read the page aloud, slowly, as if each word had to be paid for.",
)

CODE = (
    "def area(width, height):\n    return width * height\n",
    "for (let i = 0; i < rows.length; i++) {\n\tconsole.log(rows[i].name);\n}\n",
    "#include <vector>\nint main() {\n  std::vector<int> v(10, 0);\n  return v[3];\n}\n",
    "import json\nwith open('a.json') as file:\n    data = json.load(file)\n",
    ".menu > li:hover { color: #c00; margin: 0 auto; }\n",
    "if x is None:\n    raise ValueError('x is missing')\nelse:\n    y = x + 1\n",
    "SELECT name, count(*) FROM birds WHERE seen > '1998-05-01' GROUP BY name;\n",
    "while (!queue.empty()) { auto item = queue.front(); queue.pop(); }\n",
)

ODD = (
    "It’s late — “too late”, he said… and left.",
    "Съешь ещё этих мягких булок, да выпей же чаю. Жаль!",
    "漢字とかな：東京は大きい。北京也很大。",
    "A family 👩‍👩‍👧‍👦, a flag 🇳🇿, a hand 👍🏽 and a zero\u200bwidth space.",
    "السلام عليكم means peace, and שלום too; numbers 123 stay left to right.",
    "tab\there,\ttwo\t\ttabs,  two spaces, no\u00a0break, trailing  \n\n\n  leading",
    '<script>alert("x")</script> <!-- note --> &lt;b&gt; " onmouseover="go()',
    "{{7*7}} {% raw %} ${x} line\u2028separator </script>",
    "café naïve Ærø œuvre é (combining e\u0301) ½ ß ǅ",
    "\ufeffBOM first, then \r\n a carriage return, then nothing",
)
