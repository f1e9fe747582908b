"""The annual report in English."""

from eval.pages.wording import Note, Segment, Statement, Wording

ENGLISH = Wording(
    language="en",
    font="Liberation Serif",
    ruled=False,
    running="Norvik Harbour Group plc · Annual report and accounts",
    title="Norvik Harbour Group: annual report and five-year accounts",
    letter=[
        "Dear shareholders, the past five years have changed the company more than the thirty "
        "before them. We sold the bulk terminals, bought two engine works and built a software "
        "business from nothing.",
        "The board proposes a dividend in line with its policy of paying out forty per cent of "
        "the profit attributable to owners. We thank all who work on our quays, in our halls and "
        "at our screens.",
        "Safety came first: the rate of lost-time injuries fell for the fourth year in a row, "
        "after every crane cabin was fitted with a camera and every shift got its own steward.",
    ],
    unit="(in thousands of euros unless stated otherwise)",
    item="Item",
    fiscal="FY{year}",
    review_title="Review of the businesses",
    segments=[
        Segment("Marine Engines", "Two- and four-stroke engines for cargo ships, with dual-fuel "
                "versions since the works in Odense were converted."),
        Segment("Port Services", "Pilotage, towage and mooring in eleven harbours, and the leases "
                "of the container yards."),
        Segment("Cold Storage", "Refrigerated warehouses for fish, fruit and vaccines along the "
                "coast."),
        Segment("Shipyard", "Dry docks for repair and conversion, and small ferries built to "
                "order."),
        Segment("Fleet Software", "Voyage planning and maintenance records, sold by subscription "
                "to shipping lines."),
    ],
    segment_year="{segment} in {year}",
    segment_caption="Key figures of {segment}, {year}",
    segment_lines=[
        "Revenue", "Operating profit", "Capital expenditure", "Depreciation and amortisation",
        "Research and development", "Order backlog", "Average number of employees",
    ],
    remarks=[
        "Demand for {segment} held up in {year}, though customers took longer to sign.",
        "Prices of steel and power weighed on margins in {year}; a third was passed on.",
        "The order book of {segment} at the end of {year} covers most of the next year.",
        "Two contracts of {segment} were renegotiated in {year} after the customer merged.",
        "A strike of nine days in {year} delayed deliveries, without penalties.",
        "Training hours a head rose in {year} as new safety rules came into force.",
        "Management expects {segment} to grow somewhat faster than its market.",
    ],
    statements=[
        Statement("Consolidated balance sheet", [
            "Property, plant and equipment", "Right-of-use assets", "Goodwill",
            "Other intangible assets", "Investments in associates", "Deferred tax assets",
            "Inventories", "Trade receivables", "Contract assets", "Cash and cash equivalents",
            "Total assets", "Share capital", "Share premium", "Retained earnings",
            "Non-controlling interests", "Long-term borrowings", "Lease liabilities",
            "Pension obligations", "Provisions", "Trade payables", "Income tax payable",
            "Total equity and liabilities",
        ]),
        Statement("Consolidated income statement", [
            "Revenue", "Cost of sales", "Gross profit", "Selling expenses",
            "Administrative expenses", "Other operating income", "Operating profit",
            "Finance income", "Finance costs", "Share of profit of associates",
            "Profit before tax", "Income tax expense", "Profit for the year",
            "Attributable to owners of the parent",
        ]),
        Statement("Consolidated statement of cash flows", [
            "Cash generated from operations", "Interest paid", "Income taxes paid",
            "Purchase of property, plant and equipment", "Proceeds from sale of equipment",
            "Acquisition of subsidiaries", "Proceeds from borrowings", "Repayment of borrowings",
            "Payment of lease liabilities", "Dividends paid", "Net change in cash",
        ]),
    ],
    statement_year="{statement} {year}",
    statement_lead="The {statement} for the year ended 31 December {year}, with the figures of "
    "{before} beside it, was approved by the board and audited without qualification.",
    notes_title="Notes to the consolidated accounts",
    notes=[
        Note("Property, plant and equipment", "Assets are carried at cost less depreciation. "
             "Docks are written off over forty years, cranes over fifteen.",
             ["Land and quays", "Buildings", "Cranes and vehicles", "Vessels",
              "Assets under construction"],
             ["Opening balance", "Additions", "Disposals", "Depreciation", "Closing balance"]),
        Note("Intangible assets", "Software is capitalised once it is ready for use and written "
             "off over five years; goodwill is tested every year.",
             ["Goodwill", "Customer relations", "Licences", "Developed software"],
             ["Opening balance", "Additions", "Amortisation", "Closing balance"]),
        Note("Ageing of trade receivables", "Losses are estimated by how long a debt is overdue "
             "and by the region of the debtor.",
             ["Not yet due", "Overdue up to 30 days", "Overdue 31 to 90 days",
              "Overdue 91 to 180 days", "Overdue more than 180 days"],
             ["Gross amount", "Loss allowance"]),
        Note("Inventories", "Inventories are valued at the lower of cost and what they would "
             "bring, first in, first out.",
             ["Raw materials", "Spare parts", "Work in progress", "Finished engines", "Fuel"],
             ["Cost", "Write-down", "Carrying amount"]),
        Note("Borrowings by lender", "All loans are at amortised cost. Covenants on net debt and "
             "interest cover were met throughout.",
             ["Nordbank", "Banco Atlântico", "Hanse Kredit", "Green bond", "Shipping fund"],
             ["Drawn", "Undrawn", "Due within one year"]),
        Note("Provisions", "A provision is made where a payment is likely and can be estimated.",
             ["Warranties", "Restructuring", "Clean-up of harbour soil", "Legal claims"],
             ["Opening balance", "Added", "Used", "Released", "Closing balance"]),
        Note("Lease liabilities by maturity", "Leases are of yards, warehouses and tugs; short "
             "leases are expensed.",
             ["Within one year", "One to two years", "Two to five years", "After five years"],
             ["Undiscounted", "Present value"]),
        Note("Pensions", "Plans in two countries promise a share of the last salary; they are "
             "closed to new members.",
             ["Obligation of funded plans", "Fair value of plan assets",
              "Obligation of unfunded plans", "Actuarial losses"],
             ["Norway", "Germany"]),
        Note("Revenue by region", "Revenue is shown where the customer has its seat.",
             ["Scandinavia", "Baltic states", "British Isles", "Iberia", "East Asia",
              "Rest of the world"],
             ["Goods", "Services", "Total"]),
        Note("Remuneration of directors", "Pay consists of a salary, a bonus on profit and shares "
             "that vest after three years.",
             ["Chief executive", "Chief financial officer", "Chief operating officer",
              "Non-executive directors"],
             ["Salary", "Bonus", "Share awards"]),
        Note("Related parties", "Dealings with associates and with the founding family are at "
             "the prices of the market.",
             ["Skagen Towage", "Baltic Reefer Terminals", "Founding family", "Joint venture Ems"],
             ["Sales", "Purchases", "Receivables", "Payables"]),
        Note("Emissions and energy", "Fuel and power are measured at the meter; the factors are "
             "those of the national agencies.",
             ["Diesel", "Shore power", "District heat", "Liquefied gas"],
             ["Consumption in MWh", "Emissions in tonnes of CO2"]),
    ],
    note_caption="{note}, year ended 31 December {year}",
    note_remarks=[
        "The table shows the position for {year}; no policy was changed.",
        "For {year} the figures were reviewed by the audit committee.",
        "In {year} one reclassification was made, which left the total as it was.",
    ],
    asked={
        "segment": [
            "What was the {line} of {segment} in {year}?",
            "{segment} {year} {line}",
            "How much {loosely} did {segment} have in {year}?",
            "Tell me the {loosely} figure for the {segment} business, financial year {year}",
        ],
        "statement": [
            "What did the group report as {line} for {year}?",
            "{line} {year} consolidated",
            "group {loosely} at the end of / during {year}",
        ],
        "note": [
            "In {year}, what was the {column} of {line} in the note on {note}?",
            "{line} {column} {year}",
            "{year} figures for {loosely}: {column}",
        ],
    },
    unanswerable=[
        "What was the operating profit of the Aerospace segment in 2021?",
        "How many satellites does the company operate?",
        "Who won the football world cup in 2018?",
        "What is the recipe for fish soup with saffron?",
        "Which visa do tourists need for Mongolia?",
        "What dosage of ibuprofen is safe for children?",
        "How do I reset the password of my online banking?",
        "Number of theatre seats in the opera house of Sydney",
        "When does the school year begin in Bavaria?",
        "Which fertiliser suits tomatoes on a balcony?",
    ],
    other_words={
        "Revenue": "turnover",
        "Operating profit": "EBIT",
        "Capital expenditure": "capex",
        "Depreciation and amortisation": "D&A",
        "Research and development": "R&D",
        "Order backlog": "unfilled orders",
        "Average number of employees": "headcount",
        "Trade receivables": "accounts receivable",
        "Trade payables": "accounts payable",
        "Cost of sales": "COGS",
        "Profit for the year": "net income",
        "Cash and cash equivalents": "cash balance",
        "Dividends paid": "payouts to shareholders",
        "Inventories": "stock on hand",
    },
)  # fmt: skip
